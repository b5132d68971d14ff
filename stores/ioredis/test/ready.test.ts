import { afterAll, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { until } from '../../../test/support/until'
import { ioredisStore } from '../src'
import { fresh, terms } from './support/caller'
import { client } from './support/clients'
import { itIsOf } from './support/readiness'

const server = await startRedis()
afterAll(() => server.stop())

for (const version of [5, 6] as const) {
  describe(`ready, of a store on ioredis ${version}`, () => {
    itIsOf('a Redis', (options) => client(version, server, options))

    it('is false while the server is away, and true again with it', async () => {
      await using other = await startRedis()
      const redis = client(version, other)
      const store = ioredisStore(redis)
      await store.ping()
      const seen = new Set<string>()
      for (const status of ['close', 'reconnecting', 'connecting']) {
        redis.on(status, () => {
          seen.add(status)
          expect(store.ready?.()).toBe(redis.status === 'ready')
        })
      }
      await other.kill()
      await until('the loss to be seen', () => seen.has('reconnecting') && seen.has('connecting'))
      expect(store.ready?.()).toBe(false)
      await other.start()
      await until('the client to be back', () => redis.status === 'ready')
      expect(store.ready?.()).toBe(true)
      redis.disconnect()
    })

    it('is true of one that queues nothing and was never used, whose first command it refuses', async () => {
      const redis = client(version, server, { lazyConnect: true, enableOfflineQueue: false })
      const store = ioredisStore(redis)
      expect(store.ready?.()).toBe(true)
      await expect(store.circuits.readState(fresh(), terms())).rejects.toThrow('enableOfflineQueue')
      // It connects all the same: nothing else would make it.
      await until('the client to be ready', () => store.ready?.())
      expect((await store.circuits.readState(fresh(), terms())).state).toBe('closed')
    })
  })
}
