import { realTime } from '@tidegate/conformance'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type RedisServer, startRedis } from '../../../test/support/redis/index'
import { until } from '../../../test/support/until'
import { ioredisStore } from '../src'
import { fresh, type Heard, listen, swap } from './support/caller'
import { client } from './support/clients'
import { connectionsOf, listenersOf, subscribersOf } from './support/connections'

const server = await startRedis()
const stores: ReturnType<typeof ioredisStore>[] = []
afterAll(() => server.stop())
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  await until('nobody to listen', async () => (await subscribersOf(server)).length === 0)
})

function storeOf(...args: Parameters<typeof ioredisStore>): ReturnType<typeof ioredisStore> {
  const store = ioredisStore(...args)
  stores.push(store)
  return store
}

for (const version of [5, 6] as const) {
  describe(`the connection that listens, of ioredis ${version}`, () => {
    const redis = client(version, server)
    beforeAll(() => redis.ping())

    it('is not there before anybody listens', async () => {
      const before = await connectionsOf(server)
      const store = storeOf(redis)
      await swap(store, fresh(), 'open')
      expect(await connectionsOf(server)).toHaveLength(before.length)
    })

    it('is one for all who listen, and gone with the last of them', async () => {
      const before = await connectionsOf(server)
      const store = storeOf(redis)
      const names = [fresh(), fresh(), fresh()]
      const heard = [...names, ...names].map((name) => listen(store, name))
      await until('all to be subscribed', async () => (await subscribersOf(server))[0]?.sub === 3)
      expect(await connectionsOf(server)).toHaveLength(before.length + 1)
      for (const one of heard.slice(1)) one.stop()
      await until('one channel to be left', async () => (await subscribersOf(server))[0]?.sub === 1)
      heard[0]?.stop()
      await until('the connection to go', async () => (await connectionsOf(server)).length === before.length)
    })

    it('is gone when the store is closed, and there again for who listens afterwards', async () => {
      const store = storeOf(redis)
      const name = fresh()
      const first = listen(store, name)
      await subscribed(name)
      await store.close()
      await until('the connection to go', async () => (await subscribersOf(server)).length === 0)
      const second = listen(store, name)
      await subscribed(name)
      const { snapshot } = await swap(store, name, 'open')
      await until('the trip to be heard of', () => second.has(snapshot.fence))
      expect(first.snapshots).toEqual([])
      first.stop()
      expect(await listenersOf(server, channel(name))).toBe(1)
    })

    it('is given up though it was still being made', async () => {
      const before = await connectionsOf(server)
      const store = storeOf(redis)
      listen(store, fresh()).stop()
      const heard = listen(store, fresh())
      await store.close()
      heard.stop()
      await until(
        'no connection to be left',
        async () => (await connectionsOf(server)).length === before.length,
      )
    })

    it('does not come back when it was given up', async () => {
      const before = await connectionsOf(server)
      const store = storeOf(redis)
      const name = fresh()
      listen(store, name)
      await subscribed(name)
      await store.close()
      await until('the connection to go', async () => (await connectionsOf(server)).length === before.length)
      // A lost one is there again after 50 ms at most.
      await realTime(100)
      expect(await connectionsOf(server)).toHaveLength(before.length)
    })

    it('hears again after it was killed', async () => {
      const store = storeOf(redis)
      const names = [fresh(), fresh()] as const
      const heard = names.map((name) => listen(store, name)) as [Heard, Heard]
      for (const name of names) await subscribed(name)
      const [{ id: lost } = { id: '' }] = await subscribersOf(server)
      await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await until('another connection to be subscribed', async () => {
        const [one] = await subscribersOf(server)
        return one !== undefined && one.id !== lost && one.sub === 2
      })
      for (const [index, name] of names.entries()) {
        const { snapshot } = await swap(store, name, 'open')
        await until('the trip to be heard of', () => heard[index]?.has(snapshot.fence))
      }
    })

    it('tells a listener twice who listens twice, and once when one of the two has left', async () => {
      const store = storeOf(redis)
      const name = fresh()
      const told: string[] = []
      const listener = ({ fence }: { fence: string }): void => void told.push(fence)
      const stop = store.circuits.subscribe?.(name, listener)
      store.circuits.subscribe?.(name, listener)
      await subscribed(name)
      const { snapshot: open } = await swap(store, name, 'open')
      await until('both to be told', () => told.length === 2)
      stop?.()
      stop?.()
      const { snapshot: closed } = await swap(store, name, 'closed')
      await until('the other to be told', () => told.includes(closed.fence))
      expect(told).toEqual([open.fence, open.fence, closed.fence])
    })

    it('tells of no swap twice', async () => {
      const store = storeOf(redis)
      const name = fresh()
      const heard = listen(store, name)
      await subscribed(name)
      await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await subscribed(name)
      await swap(store, name, 'open')
      const { snapshot } = await swap(store, name, 'closed')
      await until('the last to be heard of', () => heard.has(snapshot.fence))
      expect(heard.snapshots.map(({ state }) => state)).toEqual(['open', 'closed'])
    })

    it('ignores what is none of ours, and goes on', async () => {
      const store = storeOf(redis)
      const name = fresh()
      const heard = listen(store, name)
      await subscribed(name)
      for (const message of ['', 'hello', '{}', '1 2 3', '0 0 1 97 -1 -1 0 0 1 1 0 -1 ']) {
        await server.command('PUBLISH', channel(name), message)
      }
      const { snapshot } = await swap(store, name, 'open')
      await until('the trip to be heard of', () => heard.has(snapshot.fence))
      expect(heard.snapshots).toEqual([snapshot])
    })
  })

  describe(`a server that was restarted, to ioredis ${version}`, () => {
    it('is listened to again', async () => {
      await using other = await startRedis()
      const redis = client(version, other)
      const store = storeOf(redis)
      const name = fresh()
      const heard = listen(store, name)
      await subscribed(name, other)
      await other.kill()
      await other.start()
      await subscribed(name, other)
      const { snapshot } = await swap(store, name, 'open')
      await until('the trip to be heard of', () => heard.has(snapshot.fence))
      await store.close()
      redis.disconnect()
    })

    it('is not tried again when nobody listens any more', async () => {
      await using other = await startRedis()
      const redis = client(version, other)
      await redis.ping()
      await other.kill()
      const tries = vi.spyOn(redis, 'duplicate')
      const store = storeOf(redis)
      listen(store, fresh())
      await until('the third try', () => tries.mock.calls.length === 3)
      await store.close()
      // The fourth would come after 400 ms at most.
      await realTime(500)
      expect(tries).toHaveBeenCalledTimes(3)
      redis.disconnect()
    })

    it('may be away while somebody begins to listen, and nothing is printed', async () => {
      const printed = vi.spyOn(console, 'error')
      await using other = await startRedis()
      const redis = client(version, other)
      await redis.ping()
      await other.kill()
      const tries = vi.spyOn(redis, 'duplicate')
      const store = storeOf(redis)
      const name = fresh()
      const heard = listen(store, name)
      await until('a try to fail', () => tries.mock.calls.length > 1)
      await other.start()
      await subscribed(name, other)
      const { snapshot } = await swap(store, name, 'open')
      await until('the trip to be heard of', () => heard.has(snapshot.fence))
      expect(printed).not.toHaveBeenCalled()
      printed.mockRestore()
      await store.close()
      redis.disconnect()
    })
  })
}

describe('a client that was closed', () => {
  it('is listened beside no more, and again once it is connected', async () => {
    const redis = client(6, server)
    const store = storeOf(redis)
    const name = fresh()
    listen(store, name)
    await subscribed(name)
    redis.disconnect()
    await until('the client to end', () => redis.status === 'end')
    await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await redis.connect()
    await subscribed(name)
  })
})

describe('a listener', () => {
  it('is refused a name that is none', () => {
    const { circuits } = storeOf(client(6, server))
    expect(() => circuits.subscribe?.('', () => {})).toThrow('name must be')
  })
})

function channel(name: string): string {
  return `tidegate:{${name}}:swaps`
}

async function subscribed(name: string, to: RedisServer = server): Promise<void> {
  await until('the channel to be listened to', async () => {
    try {
      return (await listenersOf(to, channel(name))) === 1
    } catch {
      return false
    }
  })
}
