import type { Store } from '@tidegate/contract'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { startCluster } from '../../../test/support/redis/index'
import { until } from '../../../test/support/until'
import { type IoredisStore, ioredisStore } from '../src'
import { fresh, listen, swap } from './support/caller'
import { clusterClient, type Options } from './support/clients'
import { connectionsOf, type ServerSide, subscribersOf } from './support/connections'
import { circuitKey, conforms, harnessOver } from './support/harness'
import { HOSTILE } from './support/names'
import { LISTENS, run } from './support/program'
import { quota } from './support/quotas'
import { itIsOf } from './support/readiness'

// What is the same on one server is tested there; this is what a Cluster could make of it.
const cluster = await startCluster()
afterAll(() => cluster.stop())

const here = clusterClient(6, cluster.nodes)
const there = clusterClient(5, cluster.nodes)

conforms(
  harnessOver('ioredisStore on a Cluster', here, there, {
    flush: () => onEachNode('FLUSHALL'),
    expire: (name) => here.del(circuitKey(name)),
  }),
  ['leap', 'stepClock', 'loseWrites'],
)

const stores: Store[] = []
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  await until('nobody to listen', async () => (await all(subscribersOf)).length === 0)
})

function storeOn(...args: Parameters<typeof ioredisStore>): IoredisStore {
  const store = ioredisStore(...args)
  stores.push(store)
  return store
}

for (const version of [5, 6] as const) {
  describe(`ready, of a store on a Cluster of ioredis ${version}`, () => {
    itIsOf('a Cluster', (options) => clusterClient(version, cluster.nodes, options))
  })

  describe(`the scripts of a Cluster, by ioredis ${version}`, () => {
    it('are learnt node by node, in the call that needs them', async () => {
      const store = storeOn(clusterClient(version, cluster.nodes))
      await onEachNode('SCRIPT', 'FLUSH')
      for (const name of await oneOnEachNode()) expect((await swap(store, name, 'open')).ok).toBe(true)
    })
  })

  describe(`a Cluster of ioredis ${version}`, () => {
    const settings: Options[] = [
      { enableAutoPipelining: true },
      { keyPrefix: 'app:' },
      { redisOptions: { stringNumbers: true, keyPrefix: 'app:' } },
      { scaleReads: 'all' },
      { lazyConnect: true },
      { lazyConnect: true, enableAutoPipelining: true },
    ]
    for (const options of settings) {
      it(`may have ${JSON.stringify(options)}`, async () => {
        const store = storeOn(clusterClient(version, cluster.nodes, options))
        const names = [...(await oneOnEachNode()), fresh(), fresh(), fresh()]
        const heard = names.map((name) => listen(store, name))
        // At once, on every node: what is sent in one turn may go out as one.
        const answers = await Promise.all(names.map((name) => swap(store, name, 'open')))
        expect(answers.every(({ ok }) => ok)).toBe(true)
        await subscribed(names.length)
        const closed = await Promise.all(names.map((name) => swap(store, name, 'closed')))
        await until('all swaps to be heard of', () =>
          heard.every((one, index) => one.has(closed[index]?.snapshot.fence ?? '')),
        )
      })
    }
  })

  it(`limits, lends and remembers on every node, by ioredis ${version}`, async () => {
    for (const options of [{}, { enableAutoPipelining: true, keyPrefix: 'app:' }]) {
      const redis = clusterClient(version, cluster.nodes, options)
      const { limits, leases, cache } = storeOn(redis)
      await onEachNode('SCRIPT', 'FLUSH')
      const names = [...(await oneOnEachNode()), ...HOSTILE.map((name) => fresh() + name)]
      const settled = names.map(async (name, index) => {
        const { reservation } = await limits.consume(name, [quota()], 1)
        const second = await limits.consume(name, [quota()], 5)
        await limits.settle(name, [quota()], second.reservation, 0)
        await limits.settle(name, [quota()], reservation, 1)
        const [state] = (await limits.peek(name, [quota()])).quotas
        const { fence } = await leases.acquire(name, { owner: 'me', limit: 1, leaseMs: 60_000 })
        const isHeld = await leases.renew(name, 'me', fence, 60_000)
        await leases.release(name, 'me', fence)
        await cache.set(name, `${index}`, { ttlMs: 60_000 })
        const value = (await cache.get(name))?.value
        await Promise.all([limits.reset(name), cache.delete(name)])
        return [state?.remaining, isHeld, value]
      })
      expect(await Promise.all(settled)).toEqual(names.map((_, index) => [9, true, `${index}`]))
    }
  })

  describe(`the connection that listens in a Cluster, of ioredis ${version}`, () => {
    const redis = clusterClient(version, cluster.nodes)

    it('is one, to any node, and hears of swaps on all of them', async () => {
      const store = storeOn(redis)
      const names = await oneOnEachNode()
      // A Cluster connects to a node when it first has something for it.
      for (const name of names) await swap(store, name, 'closed')
      const before = (await all(connectionsOf)).length
      const heard = names.map((name) => listen(store, name))
      await subscribed(names.length)
      expect(await all(connectionsOf)).toHaveLength(before + 1)
      for (const [index, name] of names.entries()) {
        const { snapshot } = await swap(store, name, 'open')
        await until('the trip to be heard of', () => heard[index]?.has(snapshot.fence))
      }
      for (const one of heard) one.stop()
      await until('it to be gone', async () => (await all(connectionsOf)).length === before)
    })

    it('hears again after it was killed', async () => {
      const store = storeOn(redis)
      const name = fresh()
      const heard = listen(store, name)
      await subscribed(1)
      await Promise.all(cluster.nodes.map((node) => node.command('CLIENT', 'KILL', 'TYPE', 'pubsub')))
      await until('it to be lost', async () => (await all(subscribersOf)).length === 0)
      await subscribed(1)
      const { snapshot } = await swap(store, name, 'open')
      await until('the trip to be heard of', () => heard.has(snapshot.fence))
    })

    it('may be a Cluster of the user’s', async () => {
      const subscriber = clusterClient(version, cluster.nodes)
      const own = storeOn(redis, { subscriber })
      const name = fresh()
      const heard = listen(own, name)
      await subscribed(1)
      const { snapshot } = await swap(own, name, 'open')
      await until('the trip to be heard of', () => heard.has(snapshot.fence))
      await own.close()
      expect(subscriber.status).toBe('ready')
      subscriber.disconnect()
    })
  })

  describe(`a process with a Cluster of ioredis ${version} that only listens`, () => {
    it('ends by itself', async () => {
      const source = `${LISTENS}; await redis.quit(); console.log('done')`
      const client = version === 5 ? 'ioredis5' : 'ioredis'
      const port = String(cluster.nodes[0]?.port)
      expect(await run(source, 'cluster', client, port)).toEqual({ code: 0, output: 'done\n' })
    })
  })
}

async function onEachNode(...words: string[]): Promise<void> {
  await Promise.all(cluster.nodes.map((node) => node.command(...words)))
}

async function all(of: typeof connectionsOf): Promise<readonly ServerSide[]> {
  return (await Promise.all(cluster.nodes.map(of))).flat()
}

/** One connection, with so many channels. */
async function subscribed(channels: number): Promise<void> {
  await until('the subscription', async () => (await all(subscribersOf))[0]?.sub === channels)
}

async function oneOnEachNode(): Promise<string[]> {
  const names = new Map<number, string>()
  while (names.size < cluster.nodes.length) {
    const name = fresh()
    names.set((await cluster.masterOf(`{${name}}`)).port, name)
  }
  return [...names.values()]
}
