import { Cluster, Redis } from 'ioredis'
import { afterEach, describe, expect, it } from 'vitest'
import { startCluster, startSentinel } from '../support/redis'
import { until } from '../support/until'
import {
  callUntil,
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

async function instance(...args: Parameters<typeof instanceOn>): Promise<Instance> {
  const one = await instanceOn(...args)
  ending.push(() => one[Symbol.asyncDispose]())
  return one
}

describe('a failover by Sentinel that loses acknowledged writes', () => {
  it('takes the trip with it, and whatever was decided on it; and no fence comes twice', async () => {
    const group = await startSentinel()
    ending.push(() => group.stop())
    const connect = () =>
      new Redis({ sentinels: [...group.sentinels], name: group.name, retryStrategy: () => 50 })
    // Open for longer than the failover takes.
    const [here, there] = [
      await instance(connect(), { cooldownMs: 30_000 }),
      await instance(connect(), { cooldownMs: 30_000 }),
    ]
    const { fence: before } = there.breaker.stats()
    await group.failover({
      losing: async () => {
        await trip(here)
      },
    })
    const { fence: lost } = here.transitions[0] as { fence: string }
    expect(here.transitions[0]).toMatchObject({ to: 'open', by: 'here' })
    await until('the circuit as it was, everywhere', async () => {
      await outcomeOf(here.breaker.execute(up))
      await outcomeOf(there.breaker.execute(up))
      return [here, there].every(({ isAway, breaker }) => !isAway && breaker.stats().fence === before)
    })
    expect([here.breaker.state, there.breaker.state]).toEqual(['closed', 'closed'])
    // What was decided on the period that is lost lands nowhere.
    const claim = { ...terms('late-claim'), owner: 'here' }
    expect(await here.store.circuits.compareAndSet(NAME, 'open', 'half-open', lost, claim)).toMatchObject({
      ok: false,
      snapshot: { state: 'closed', fence: before },
    })
    await trip(there)
    const { fence: next } = there.breaker.stats()
    expect(next > before).toBe(true)
    expect(next).not.toBe(lost)
    await until('the trip to be heard of', async () => {
      await outcomeOf(here.breaker.execute(up))
      return here.breaker.stats().fence === next
    })
  })
})

describe('a Cluster', () => {
  it('serves circuits from all of its masters, with their pushes, and through the death of one', async () => {
    const cluster = await startCluster({ masters: 3, replicasPerMaster: 1 })
    ending.push(() => cluster.stop())
    const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }))
    const connect = () => new Cluster(nodes, { clusterRetryStrategy: () => 50 })
    // A sync every minute: what is heard of before that is pushed.
    const options = { syncMs: 1_000, windowMs: 60_000, storeTimeoutMs: 1_000 }
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await using here = await instanceOn(connect() as never, { ...options, name })
      await using there = await instanceOn(connect() as never, { ...options, name })
      await trip(there)
      await until(`the trip of ${name} to be heard of`, () => here.breaker.state === 'open')
      expect(here.breaker.stats().fence).toBe(there.breaker.stats().fence)
    }
    const quick = { retryDelayOnClusterDown: 50 }
    const here = await instance(new Cluster(nodes, quick) as never)
    const there = await instance(new Cluster(nodes, quick) as never)
    await (await cluster.masterOf(`tidegate:{${NAME}}:circuit`)).kill()
    await until('the outage to be noticed', async () => {
      await outcomeOf(here.breaker.execute(up))
      return here.isAway
    })
    await cluster.settled()
    await until('the end of the outage', async () => {
      await outcomeOf(here.breaker.execute(up))
      await outcomeOf(there.breaker.execute(up))
      return !here.isAway && !there.isAway
    })
    await fail(here, 2 * MINIMUM_CALLS)
    await callUntil(there, 'closed')
    expect(await here.breaker.isolate()).toBe('fleet')
    await until('the isolation to be heard of', async () => {
      await outcomeOf(there.breaker.execute(up))
      return there.breaker.state === 'isolated'
    })
  }, 40_000)
})

function terms(nonce: string) {
  return {
    instance: 'somebody-else',
    nonce,
    window: { kind: 'time', ms: 10_000 },
    cooldownMs: 30_000,
    leaseMs: 1_000,
  } as const
}
