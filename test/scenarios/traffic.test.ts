import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../support/redis'
import { until } from '../support/until'
import { cooldownOver, type Instance, instanceOn, outcomeOf, trip, up } from './instance'

const SYNC_MS = 100
const DURATION_MS = 2_000

let server: RedisServer
let fleet: readonly Instance[]

beforeAll(async () => {
  server = await startRedis()
  const options = { syncMs: SYNC_MS, windowMs: 30_000, cooldownMs: 300 }
  fleet = [
    await instanceOn(new Redis(server.port), options),
    await instanceOn(new Redis(server.port), options),
  ]
})
afterAll(async () => {
  for (const one of fleet) await one[Symbol.asyncDispose]()
  await server.stop()
})

describe('what Redis is sent for calls', () => {
  it('is a script a sync while they are well, however many they are', async () => {
    for (const perSecond of [100, 1_000, 4_000]) {
      const { calls, scripts, syncs } = await callAt(perSecond)
      console.log(`healthy, ${perSecond} calls/s an instance: ${calls} calls, ${scripts} scripts`)
      expect(scripts).toBeLessThanOrEqual(syncs)
      if (perSecond === 1_000) expect(scripts / calls).toBeLessThanOrEqual(0.02)
    }
  })

  it('is a script a sync and an instance while they are refused, however many they are', async () => {
    const isolator = fleet[0] as Instance
    await isolator.breaker.isolate()
    await until('the isolation to be heard of', () =>
      fleet.every(({ breaker }) => breaker.state === 'isolated'),
    )
    for (const perSecond of [100, 4_000]) {
      const { calls, scripts, syncs } = await callAt(perSecond)
      console.log(`refused, ${perSecond} calls/s an instance: ${calls} calls, ${scripts} scripts`)
      expect(scripts).toBeLessThanOrEqual(syncs)
    }
    await isolator.breaker.restore()
    await until('the restoring to be heard of', () =>
      fleet.every(({ breaker }) => breaker.state === 'closed'),
    )
  })

  it('is nothing while there are none', async () => {
    for (const { breaker } of fleet) await breaker.flush()
    const before = await scriptsOf(server)
    const end = performance.now() + 5 * SYNC_MS
    await until('some syncs', () => performance.now() > end)
    expect((await scriptsOf(server)) - before).toBe(0)
  })

  it('is a claim and a verdict for a recovery', async () => {
    const [one, other] = fleet as [Instance, Instance]
    await trip(one)
    await until('the trip to be heard of', () => other.breaker.state === 'open')
    await cooldownOver(one)
    const before = await scriptsOf(server)
    expect(await outcomeOf(one.breaker.execute(up))).toBe('up')
    await until('the recovery to be heard of', () => other.breaker.state === 'closed')
    const scripts = (await scriptsOf(server)) - before
    console.log(`a recovery: ${scripts} scripts`)
    // And the read of a call that finds its mirror older than a sync.
    expect(scripts).toBeLessThanOrEqual(3)
  })
})

/** Calls each instance at such a rate for a while, and counts what arrives meanwhile. */
async function callAt(perSecond: number): Promise<{ calls: number; scripts: number; syncs: number }> {
  const before = await scriptsOf(server)
  const start = performance.now()
  let calls = 0
  await until(`${DURATION_MS} ms`, async () => {
    const due = ((performance.now() - start) / 1_000) * perSecond * fleet.length
    for (; calls < due; calls += fleet.length) {
      await Promise.all(fleet.map(({ breaker }) => outcomeOf(breaker.execute(up))))
    }
    return performance.now() - start >= DURATION_MS
  })
  for (const { breaker } of fleet) await breaker.flush()
  const elapsed = performance.now() - start
  const syncs = fleet.length * (Math.ceil(elapsed / SYNC_MS) + 2)
  return { calls, scripts: (await scriptsOf(server)) - before, syncs }
}

/** Scripts that were run, by digest or by text. */
async function scriptsOf(server: RedisServer): Promise<number> {
  const stats = String(await server.command('INFO', 'commandstats'))
  return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  )
}
