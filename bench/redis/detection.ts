import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { RedisProxy } from '../../test/support/redis'
import type { Report, Request, Witness } from './detector'

export interface Setting {
  readonly proxy: RedisProxy
  readonly delaysMs: readonly number[]
  readonly trials: number
  readonly goal: (text: string, holds: boolean, seen: string) => void
}

const SIZE = 8
const SYNC_MS = 100
const MINIMUM_CALLS = 20

/** How long the dependency is well in a trial: what the failures have to outweigh. */
const WELL_MS = 100

/** From the failure with which the fleet has seen enough to the last instance that fails fast, in ms. */
export async function detection({ proxy, delaysMs, trials, goal }: Setting): Promise<void> {
  console.log(`\nFrom the failure that is enough to the last of ${SIZE} processes that fails fast, ms\n`)
  console.log('| added to a round trip | | median | p99 | round trips: median | p99 | trials |')
  console.log('|---|---|---:|---:|---:|---:|---:|')
  const goals: (() => void)[] = []
  for (const pushes of [true, false]) {
    const fleet = await startFleet({ port: proxy.port, pushes, minimumCalls: MINIMUM_CALLS, syncMs: SYNC_MS })
    for (const delayMs of delaysMs) {
      proxy.delayMs = delayMs
      const [took, roundTrips]: [number[], number[]] = [[], []]
      // The first one warms up.
      for (let trial = -1; trial < trials; trial++) {
        const { tookMs, roundTripsMs } = await play(fleet)
        if (trial < 0) continue
        took.push(tookMs)
        roundTrips.push(...roundTripsMs)
      }
      const slow = quantile(took, 0.99)
      const slowTrip = quantile(roundTrips, 0.99)
      const figures = [quantile(took, 0.5), slow, quantile(roundTrips, 0.5), slowTrip]
      const row = figures.map((ms) => ms.toFixed(1)).join(' | ')
      console.log(`| ${delayMs} ms | ${pushes ? 'with pushes' : 'without'} | ${row} | ${took.length} |`)
      const limit = 2 * slowTrip + (pushes ? 20 : SYNC_MS)
      const what = `p99 of detection at +${delayMs} ms ${pushes ? 'with' : 'without'} pushes`
      const text = `${what}, at most two round trips and ${pushes ? 20 : SYNC_MS} ms (${limit.toFixed(1)})`
      goals.push(() => goal(text, slow <= limit, `${slow.toFixed(1)} ms`))
    }
    proxy.delayMs = 0
    for (const child of fleet) child.disconnect()
    await Promise.all(fleet.map((child) => once(child, 'exit')))
  }
  console.log()
  for (const judge of goals) judge()
}

async function startFleet(witness: Witness): Promise<readonly ChildProcess[]> {
  const file = fileURLToPath(new URL('./detector.ts', import.meta.url))
  const fleet = Array.from({ length: SIZE }, () =>
    fork(file, [JSON.stringify(witness)], { execArgv: ['--import', 'tsx'] }),
  )
  await Promise.all(fleet.map((child) => once(child, 'message')))
  return fleet
}

async function play(
  fleet: readonly ChildProcess[],
): Promise<{ tookMs: number; roundTripsMs: readonly number[] }> {
  const [first] = fleet
  const fence = await ask<string>(first as ChildProcess, { do: 'reset' })
  await Promise.all(fleet.map((child) => ask(child, { do: 'join', fence })))
  const from = performance.timeOrigin + performance.now() + 20
  const call: Request = { do: 'call', from, downFrom: from + WELL_MS }
  const reports = await Promise.all(fleet.map((child) => ask<Report>(child, call)))
  const outcomes = reports.flatMap((report) => report.outcomes).toSorted(([a], [b]) => a - b)
  let [calls, failures] = [0, 0]
  const enough = outcomes.find(([, failed]) => {
    calls++
    if (failed) failures++
    return calls >= MINIMUM_CALLS && failures >= calls / 2
  })
  if (enough === undefined) throw new Error('it opened on less than what was to be enough')
  const lastOpenedAt = Math.max(...reports.map(({ openedAt }) => openedAt))
  return { tookMs: lastOpenedAt - enough[0], roundTripsMs: reports.flatMap((report) => report.roundTripsMs) }
}

function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.ceil(share * sorted.length) - 1] ?? 0
}

async function ask<Answer>(child: ChildProcess, request: Request): Promise<Answer> {
  const answer = once(child, 'message') as Promise<[Answer]>
  child.send(request)
  return (await answer)[0]
}
