import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { until } from '../../../test/support/until'
import { ioredisStore } from '../src'
import { fresh, listen, swap, tally, terms } from './support/caller'
import { client, type Options } from './support/clients'
import { subscribersOf } from './support/connections'

const server = await startRedis()
afterAll(() => server.stop())
beforeEach(() => server.command('FLUSHALL'))
afterEach(() => until('nobody to listen', async () => (await subscribersOf(server)).length === 0))

for (const version of [5, 6] as const) {
  describe(`a client of ioredis ${version}`, () => {
    const settings: Options[] = [
      { stringNumbers: true },
      { enableAutoPipelining: true },
      { keyPrefix: 'app:' },
      { db: 3 },
      { keyPrefix: 'a{b}:', db: 1, stringNumbers: true, enableAutoPipelining: true },
      { enableOfflineQueue: false },
      { enableReadyCheck: false },
      { showFriendlyErrorStack: true },
      ...(version === 6 ? [{ protocol: 2 }, { protocol: 3 }, { protocol: 3, replyMapping: 'resp3' }] : []),
    ]
    for (const options of settings) {
      it(`may have ${JSON.stringify(options)}`, async () => {
        const redis = client(version, server, options)
        const store = ioredisStore(redis)
        await until('the client to be ready', () => store.ready?.())
        const name = fresh()
        const heard = listen(store, name)
        await until('the subscription', async () => (await subscribersOf(server)).length === 1)
        const { fence } = await store.circuits.readState(name, terms())
        const both = await Promise.all([
          store.circuits.record(name, fence, tally(1, { failures: 2 }), terms({ instance: 'a' })),
          store.circuits.record(name, fence, tally(1, { failures: 3 }), terms({ instance: 'b' })),
        ])
        expect(both.map(({ counters }) => counters.failures)).toEqual([2, 5])
        const { snapshot } = await swap(store, name, 'open')
        await until('the trip to be heard of', () => heard.has(snapshot.fence))
        expect(heard.snapshots).toEqual([snapshot])
        await store.close()
      })
    }

    it('has its keys under its prefix', async () => {
      const store = ioredisStore(client(version, server, { keyPrefix: 'app:' }), { prefix: 'tide' })
      await store.circuits.readState('a', terms())
      expect(await server.command('KEYS', '*circuit')).toEqual(['app:tide:{a}:circuit'])
    })

    const apart: [Options, Options][] = [
      [{ db: 0 }, { db: 1 }],
      [{ keyPrefix: 'app:' }, { keyPrefix: 'other:' }],
      [{}, { keyPrefix: 'other:' }],
    ]
    for (const [here, there] of apart) {
      it(`hears with ${JSON.stringify(here)} nothing of ${JSON.stringify(there)}`, async () => {
        const [mine, theirs] = [here, there].map((options) => ioredisStore(client(version, server, options)))
        if (mine === undefined || theirs === undefined) throw new Error('two stores')
        const name = fresh()
        const heard = [listen(mine, name), listen(theirs, name)] as const
        await until('both subscriptions', async () => (await subscribersOf(server)).length === 2)
        const { snapshot: elsewhere } = await swap(theirs, name, 'open')
        const { snapshot } = await swap(mine, name, 'isolated')
        await until('their swap', () => heard[1].has(elsewhere.fence))
        await until('our swap', () => heard[0].has(snapshot.fence))
        expect(heard[0].snapshots).toEqual([snapshot])
        await Promise.all([mine.close(), theirs.close()])
      })
    }
  })
}
