import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { until } from '../../../test/support/until'
import { ioredisStore } from '../src'
import { fresh, listen, swap } from './support/caller'
import { type Client, client, type Options, type Version } from './support/clients'
import { connectionsOf, listenersOf } from './support/connections'

const server = await startRedis()
afterAll(() => server.stop())

for (const version of [5, 6] as const) {
  describe(`a subscriber of the user’s, of ioredis ${version}`, () => {
    const redis = client(version, server)

    it('is the one that listens, and is never closed', async () => {
      const subscriber = theirs(version, { connectionName: 'theirs' })
      await Promise.all([redis.ping(), subscriber.ping()])
      const before = await connectionsOf(server)
      const store = ioredisStore(redis, { subscriber })
      const name = fresh()
      const heard = listen(store, name)
      await subscribed(name)
      const { snapshot } = await swap(store, name, 'open')
      await until('the trip to be heard of', () => heard.has(snapshot.fence))
      const now = await connectionsOf(server)
      expect(now).toHaveLength(before.length)
      expect(now.filter(({ sub }) => sub > 0).map(({ name }) => name)).toEqual(['theirs'])
      await store.close()
      await until('the channel to be left', async () => (await listenersOf(server, channel(name))) === 0)
      expect(subscriber.status).toBe('ready')
    })

    it('gets its listeners back when nobody listens any more', async () => {
      const subscriber = theirs(version)
      const before = listenersOn(subscriber)
      const store = ioredisStore(redis, { subscriber })
      expect(listenersOn(subscriber)).toEqual(before)
      const heard = [listen(store, fresh()), listen(store, fresh())]
      expect(listenersOn(subscriber)).not.toEqual(before)
      for (const one of heard) one.stop()
      expect(listenersOn(subscriber)).toEqual(before)
      listen(store, fresh())
      await store.close()
      expect(listenersOn(subscriber)).toEqual(before)
    })

    it('keeps the channels that are its user’s', async () => {
      const subscriber = theirs(version)
      const told: string[] = []
      subscriber.on('message', (channel: string) => told.push(channel))
      await subscriber.subscribe('theirs')
      const store = ioredisStore(redis, { subscriber })
      const heard = listen(store, fresh())
      await server.command('PUBLISH', 'theirs', 'hello')
      await until('their message', () => told.includes('theirs'))
      await store.close()
      await server.command('PUBLISH', 'theirs', 'hello again')
      await until('their next message', () => told.filter((one) => one === 'theirs').length === 2)
      expect(heard.snapshots).toEqual([])
    })

    it('connects where it is lazy', async () => {
      const subscriber = theirs(version, { lazyConnect: true })
      const store = ioredisStore(redis, { subscriber })
      expect(subscriber.status).toBe('wait')
      const name = fresh()
      listen(store, name)
      await subscribed(name)
      await store.close()
    })

    it('hears again after it was killed, though it does not subscribe again by itself', async () => {
      const subscriber = theirs(version, { autoResubscribe: false })
      const store = ioredisStore(redis, { subscriber })
      const name = fresh()
      const heard = listen(store, name)
      await subscribed(name)
      await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await until('the connection to be lost', async () => (await listenersOf(server, channel(name))) === 0)
      await subscribed(name)
      const { snapshot } = await swap(store, name, 'open')
      await until('the trip to be heard of', () => heard.has(snapshot.fence))
      await store.close()
    })

    it('hears of every swap once', async () => {
      // It subscribes again by itself, and is asked to.
      const subscriber = theirs(version, { autoResubscribe: true })
      const store = ioredisStore(redis, { subscriber })
      const name = fresh()
      const heard = listen(store, name)
      await subscribed(name)
      await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await until('the connection to be lost', async () => (await listenersOf(server, channel(name))) === 0)
      await subscribed(name)
      await swap(store, name, 'open')
      const { snapshot } = await swap(store, name, 'closed')
      await until('the last to be heard of', () => heard.has(snapshot.fence))
      expect(heard.snapshots).toHaveLength(2)
      await store.close()
    })
  })
}

function theirs(version: Version, options: Options = {}): Client {
  const subscriber = client(version, server, options)
  onTestFinished(() => subscriber.disconnect())
  return subscriber
}

function channel(name: string): string {
  return `tidegate:{${name}}:swaps`
}

async function subscribed(name: string): Promise<void> {
  await until('the channel to be listened to', async () => (await listenersOf(server, channel(name))) === 1)
}

function listenersOn(emitter: { listenerCount(event: string): number }): number[] {
  return ['message', 'ready', 'connect', 'end', 'error'].map((event) => emitter.listenerCount(event))
}
