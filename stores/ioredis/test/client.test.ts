import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { until } from '../../../test/support/until'
import { ioredisStore } from '../src'
import { fresh, listen, swap, tally, terms } from './support/caller'
import { type Client, client, type Version } from './support/clients'
import { commandsOf, connectionsOf } from './support/connections'
import { quota } from './support/quotas'

const server = await startRedis()
afterAll(() => server.stop())
beforeEach(() => server.command('CONFIG', 'RESETSTAT'))

for (const version of [5, 6] as const satisfies Version[]) {
  describe(`a client of ioredis ${version}`, () => {
    it('is sent nothing when a store is built, and stays unconnected where it is lazy', async () => {
      const ids = async (): Promise<string[]> => (await connectionsOf(server)).map(({ id }) => id)
      const before = await ids()
      const redis = client(version, server, { lazyConnect: true })
      ioredisStore(redis)
      // What it could have sent by now would have gone out before this.
      await server.command('PING')
      expect(redis.status).toBe('wait')
      expect(await ids()).toEqual(before)
      expect([...(await commandsOf(server)).keys()].filter((name) => name.startsWith('script'))).toEqual([])
    })

    it('connects by the first command where it is lazy', async () => {
      const redis = client(version, server, { lazyConnect: true })
      const store = ioredisStore(redis)
      expect((await store.circuits.readState(fresh(), terms())).state).toBe('closed')
      expect(redis.status).toBe('ready')
    })

    it('is asked directly by ping, which rejects with what is wrong', async () => {
      const store = ioredisStore(client(version, server))
      await store.ping()
      expect((await commandsOf(server)).get('ping')).toBe(1)
      const wrong = client(version, { port: 1 }, { retryStrategy: () => null })
      await expect(ioredisStore(wrong).ping()).rejects.toThrow()
    })

    it('is not closed with the store, and goes on with it', async () => {
      const redis = client(version, server)
      const store = ioredisStore(redis)
      const name = fresh()
      const { fence } = await store.circuits.readState(name, terms())
      await store.close()
      await store.close()
      expect(redis.status).toBe('ready')
      expect(await redis.ping()).toBe('PONG')
      expect((await store.circuits.readState(name, terms())).fence).toBe(fence)
    })

    it('keeps its listeners, its commands and its options to itself', async () => {
      const redis = client(version, server)
      await redis.ping()
      const before = traitsOf(redis)
      const store = ioredisStore(redis)
      const name = fresh()
      const heard = listen(store, name)
      const { snapshot } = await untilHeard(store, name, heard)
      await store.circuits.record(name, snapshot.fence, tally(1, { failures: 1 }), terms())
      await store.circuits.forget(name)
      expect(traitsOf(redis)).toEqual(before)
      heard.stop()
      await store.close()
      expect(traitsOf(redis)).toEqual(before)
    })

    it('is sent one command for each of the store’s', async () => {
      const redis = client(version, server)
      const { circuits, limits, leases, cache } = ioredisStore(redis)
      const name = fresh()
      const all = async (): Promise<void> => {
        const { fence } = await circuits.readState(name, terms())
        await circuits.record(name, fence, tally(1, { failures: 1 }), terms())
        await circuits.compareAndSet(name, 'closed', 'open', fence, terms())
        await circuits.forget(name)
        const { reservation } = await limits.consume(name, [quota()], 1)
        await limits.peek(name, [quota()])
        await limits.settle(name, [quota()], reservation, 2)
        await limits.reset(name)
        const lease = await leases.acquire(name, { owner: 'me', limit: 1, leaseMs: 60_000 })
        await leases.renew(name, 'me', lease.fence, 60_000)
        await leases.release(name, 'me', lease.fence)
        await cache.set(name, 'value', { ttlMs: 60_000 })
        await cache.get(name)
        await cache.delete(name)
      }
      await all()
      await server.command('CONFIG', 'RESETSTAT')
      await all()
      const commands = await commandsOf(server)
      expect(commands.get('evalsha')).toBe(14)
      expect(commands.get('eval')).toBeUndefined()
    })
  })
}

async function untilHeard(
  store: ReturnType<typeof ioredisStore>,
  name: string,
  heard: ReturnType<typeof listen>,
): ReturnType<typeof swap> {
  return until('a swap to be heard of', async () => {
    const landed = await swap(store, name, 'closed')
    return heard.snapshots.length > 0 && landed
  })
}

function traitsOf(redis: Client): unknown {
  return {
    listeners: redis.eventNames().map((event) => [event, redis.listenerCount(event)]),
    own: Object.keys(redis).sort(),
    options: JSON.stringify(redis.options),
  }
}
