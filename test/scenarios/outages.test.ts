import { Redis } from 'ioredis'
import { afterEach, describe, expect, it } from 'vitest'
import { type RedisProxy, type RedisServer, startProxy, startRedis } from '../support/redis'
import { until } from '../support/until'
import {
  COOLDOWN_MS,
  callUntil,
  clockAhead,
  cooldownOver,
  fail,
  type Instance,
  instanceOn,
  MINIMUM_CALLS,
  NAME,
  outcomeOf,
  trip,
  up,
} from './instance'

const ending: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

async function redisServer(): Promise<RedisServer> {
  const server = await startRedis()
  ending.push(() => server.stop())
  return server
}

async function proxyTo(server: RedisServer): Promise<RedisProxy> {
  const proxy = await startProxy(server.port)
  ending.push(() => proxy.stop())
  return proxy
}

async function instance(...args: Parameters<typeof instanceOn>): Promise<Instance> {
  const one = await instanceOn(...args)
  ending.push(() => one[Symbol.asyncDispose]())
  return one
}

describe('failures that a client sends again when it is connected again', () => {
  it('count for nothing: they are of an outage that is over', async () => {
    const server = await redisServer()
    const proxy = await proxyTo(server)
    // As ioredis comes: with an offline queue, and what was not answered sent again.
    // Too few calls to open on, which would be told afterwards, and rightly; and a window in which the
    // tally is too old to be told once more when Redis is back.
    const few = { minimumCalls: 10 * MINIMUM_CALLS, windowMs: 2_000 }
    const here = await instance(new Redis({ port: proxy.port, retryStrategy: () => 50 }), few)
    const there = await instance(new Redis(server.port), few)
    const held = here.gates.hold('record', ([, , tally]) => (tally as { failures: number }).failures > 0)
    await fail(here, MINIMUM_CALLS - 1)
    const tally = await held
    proxy.mute()
    void outcomeOf(tally.release())
    await until('the outage to be noticed', () => here.isAway)
    const before = await recordsOf(server)
    // The deadline of what is under way has passed by now: whoever waited for it has given it up.
    await proxy.cut()
    proxy.unmute()
    await proxy.mend()
    await until('the tally to be sent again', async () => (await recordsOf(server)) > before)
    await until('the end of the outage', async () => {
      await here.breaker.execute(up)
      return !here.isAway
    })
    await there.breaker.execute(up)
    await there.breaker.flush()
    expect(there.breaker.stats()).toMatchObject({ state: 'closed', failures: 0 })
  })
})

describe('an isolation during an outage of Redis', () => {
  it('holds here at once, and everywhere once Redis is back', async () => {
    const server = await redisServer()
    const here = await instance(new Redis(server.port))
    const there = await instance(new Redis(server.port))
    await server.freeze()
    await until('the outage to be noticed', async () => {
      await outcomeOf(here.breaker.execute(up))
      return here.isAway
    })
    expect(await here.breaker.isolate()).toBe('pending')
    expect(await outcomeOf(here.breaker.execute(up))).toBe('CIRCUIT_ISOLATED')
    expect(await outcomeOf(there.breaker.execute(up))).toBe('up')
    server.thaw()
    await until('the other to hear of it', async () => {
      await outcomeOf(there.breaker.execute(up))
      return there.breaker.state === 'isolated'
    })
    expect(await server.command('PTTL', `tidegate:{${NAME}}:circuit`)).toBe(-1)
    expect(await there.breaker.restore()).toBe('fleet')
    await callUntil(here, 'closed')
  })
})

describe('an instance whose clock is 31 s off', () => {
  it.each([31_000, -31_000])('keeps to the cooldown and the lease of the fleet (%s ms)', async (ms) => {
    const server = await redisServer()
    const here = await instance(new Redis(server.port), {
      clock: clockAhead(ms),
      cooldownMs: 5 * COOLDOWN_MS,
    })
    const there = await instance(new Redis(server.port), { cooldownMs: 5 * COOLDOWN_MS })
    await trip(there)
    await until('the trip to be heard of', async () => {
      await outcomeOf(here.breaker.execute(up))
      return here.breaker.state === 'open'
    })
    const { retryAfterMs } = here.breaker.rejection() as { retryAfterMs: number }
    expect(retryAfterMs).toBeLessThanOrEqual(5 * COOLDOWN_MS)
    expect(here.probes).toEqual([])
    await cooldownOver(here)
    // One that thinks it too early is refused by the store; this one is right, and gets the permit.
    await until('a probe', async () => {
      await outcomeOf(here.breaker.execute(up))
      return here.probes.length > 0
    })
    expect(await stateOf(there)).toMatchObject({ state: 'closed' })
    await callUntil(there, 'closed')
  })
})

describe('a circuit that closes', () => {
  it('shows no peer the new state with the old counts, nor the other way round', async () => {
    const server = await redisServer()
    const here = await instance(new Redis(server.port))
    const peer = await instance(new Redis(server.port))
    const periods = new Map<string, { state: string; failures: number }[]>()
    let isOver = false
    const watching = (async () => {
      let seq = 1_000_000
      let fence = here.breaker.stats().fence
      while (!isOver) {
        const tally = { seq: ++seq, successes: 0, failures: 0, slow: 0, trailingFailures: 0 }
        const { snapshot, counters } = await peer.store.circuits.record(NAME, fence, tally, terms(seq))
        fence = snapshot.fence
        const seen = periods.get(fence) ?? []
        seen.push({ state: snapshot.state, failures: counters.failures })
        periods.set(fence, seen)
      }
    })()
    for (let outage = 0; outage < 5; outage++) {
      await trip(here)
      await callUntil(here, 'closed')
      await fail(here, MINIMUM_CALLS - 2)
      await here.breaker.flush()
      await here.breaker.reset()
    }
    isOver = true
    await watching
    // Counts only ever grow in a period this short, and begin at none: what was before is not seen in it.
    for (const seen of periods.values()) {
      const failures = seen.map((one) => one.failures)
      expect(failures).toEqual(failures.toSorted((a, b) => a - b))
      if (seen[0]?.state !== 'closed') expect(Math.max(...failures)).toBe(0)
      expect(new Set(seen.map(({ state }) => state)).size).toBe(1)
    }
    expect(periods.size).toBeGreaterThan(10)
  })
})

function terms(nonce: number) {
  return {
    instance: 'a-peer-that-watches',
    nonce: String(nonce),
    window: { kind: 'time', ms: 10_000 },
    cooldownMs: COOLDOWN_MS,
    leaseMs: 1_000,
  } as const
}

async function stateOf({ store }: Instance) {
  return await store.circuits.readState(NAME, terms(0))
}

/** Scripts that were run. */
async function recordsOf(server: RedisServer): Promise<number> {
  const stats = String(await server.command('INFO', 'commandstats'))
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0)
}
