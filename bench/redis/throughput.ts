import { createHash } from 'node:crypto'
import { circuitBreaker } from '@tidegate/core'
import { ioredisStore } from '@tidegate/store-ioredis'
import { Redis } from 'ioredis'
import type { RedisProxy } from '../../test/support/redis'

type Goal = (text: string, holds: boolean, seen: string) => void

export interface Setting {
  readonly proxy: RedisProxy
  readonly delaysMs: readonly number[]
  readonly rounds: number
  readonly goal: Goal
}

/** About as much work as any breaker's script must do at least: read a hash, write a field, renew its life. */
const RAW = `local state = redis.call('HGET', KEYS[1], 'state')
redis.call('HINCRBY', KEYS[1], 'calls', 1)
redis.call('PEXPIRE', KEYS[1], 60000)
return state or 'closed'`
const DIGEST = createHash('sha1').update(RAW).digest('hex')

const IN_FLIGHT = 64
const ROUND_MS = 400
/** A loop that never lets go would keep every timer and every answer from arriving. */
const BATCH = 500

const work = async (): Promise<number> => 1

/** Calls a second, side by side, on one client, with what the way to Redis adds to a round trip. */
export async function throughput({ proxy, delaysMs, rounds, goal }: Setting): Promise<void> {
  const redis = new Redis(proxy.port)
  await redis.script('LOAD', RAW)
  const store = ioredisStore(redis)
  const shared = circuitBreaker({ name: 'bench', store })
  const inProcess = circuitBreaker({ name: 'bench' })
  const raw = () => redis.evalsha(DIGEST, 1, 'bench:{raw}')
  const subjects: Record<string, () => Promise<unknown>> = {
    'one raw script, then the call': async () => {
      await raw()
      return work()
    },
    'three raw scripts in a row, and the call': async () => {
      await raw()
      await raw()
      await raw()
      return work()
    },
    'Tidegate, over this Redis': () => shared.execute(work),
    'Tidegate, in one process': () => inProcess.execute(work),
  }
  await shared.execute(work)

  console.log('\nCalls a second that succeed, medians (and quartiles), one client\n')
  console.log('| added to a round trip | | one after another | 64 in flight |')
  console.log('|---|---|---:|---:|')
  const results = new Map<number, Record<string, { sequential: Spread; parallel: Spread }>>()
  for (const delayMs of delaysMs) {
    proxy.delayMs = delayMs
    const samples = Object.fromEntries(
      Object.keys(subjects).map((name) => [name, { sequential: [] as number[], parallel: [] as number[] }]),
    )
    // The first round warms up.
    for (let round = -1; round < rounds; round++) {
      for (const [name, subject] of Object.entries(subjects)) {
        const [sequential, parallel] = [await rate(subject, 1), await rate(subject, IN_FLIGHT)]
        if (round < 0) continue
        samples[name]?.sequential.push(sequential)
        samples[name]?.parallel.push(parallel)
      }
    }
    const spreads = Object.fromEntries(
      Object.entries(samples).map(([name, { sequential, parallel }]) => [
        name,
        { sequential: spreadOf(sequential), parallel: spreadOf(parallel) },
      ]),
    )
    results.set(delayMs, spreads)
    for (const [name, { sequential, parallel }] of Object.entries(spreads)) {
      console.log(`| ${delayMs} ms | ${name} | ${shown(sequential)} | ${shown(parallel)} |`)
    }
  }
  console.log()
  const of = (delayMs: number, name: string) => {
    const found = results.get(delayMs)?.[name]
    if (found === undefined) throw new Error(`${name} was not measured`)
    return found
  }
  const ratio =
    of(1, 'Tidegate, over this Redis').sequential.median /
    of(1, 'one raw script, then the call').sequential.median
  goal(
    'calls a second at +1 ms beside one raw script a call, at least 60 times',
    ratio >= 60,
    `${ratio.toFixed(0)} times`,
  )
  for (const delayMs of delaysMs) {
    for (const way of ['sequential', 'parallel'] as const) {
      const cost =
        of(delayMs, 'Tidegate, in one process')[way].median /
        of(delayMs, 'Tidegate, over this Redis')[way].median
      goal(
        `cost of a call at +${delayMs} ms, ${way}, beside the breaker in one process, at most 1.3`,
        cost <= 1.3,
        cost.toFixed(2),
      )
    }
  }
  await shared.close()
  await store.close()
  redis.disconnect()
}

interface Spread {
  readonly median: number
  readonly low: number
  readonly high: number
}

async function rate(subject: () => Promise<unknown>, inFlight: number): Promise<number> {
  const start = performance.now()
  let calls = 0
  const loop = async (): Promise<void> => {
    for (let own = 1; performance.now() - start < ROUND_MS; own++) {
      // The clock is looked at by batches, or looking would be half of what is measured.
      for (let call = 0; call < BATCH / inFlight; call++) {
        await subject()
        calls++
      }
      if (own % 4 === 0) await new Promise(setImmediate)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, loop))
  return (1_000 * calls) / (performance.now() - start)
}

function spreadOf(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? 0
  return { median: at(0.5), low: at(0.25), high: at(0.75) }
}

function shown({ median, low, high }: Spread): string {
  const [m, l, h] = [median, low, high].map((rate) => Math.round(rate).toLocaleString('en'))
  return `${m} (${l} to ${h})`
}
