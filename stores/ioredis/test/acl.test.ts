import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { until } from '../../../test/support/until'
import { type IoredisStore, ioredisStore } from '../src'
import { fresh, listen, swap, tally, terms } from './support/caller'
import { client } from './support/clients'
import { commandsOf, subscribersOf } from './support/connections'
import { ALGORITHMS, quota } from './support/quotas'

const server = await startRedis()
afterAll(() => server.stop())

/** What the README says that a user needs. */
const NEEDED = [
  ...'ping info evalsha eval publish subscribe unsubscribe time'.split(' '),
  ...'hget hmget hset hdel zadd zrem zrangebyscore zrange zcard zcount zremrangebyrank sadd scard'.split(' '),
  ...'del pttl pexpire persist get set zscore'.split(' '),
]

const unhandled = vi.fn()
beforeAll(() => void process.on('unhandledRejection', unhandled))
afterAll(() => void process.off('unhandledRejection', unhandled))
beforeEach(() => server.command('CONFIG', 'RESETSTAT'))
afterEach(async () => {
  await until('nobody to listen', async () => (await subscribersOf(server)).length === 0)
  expect(unhandled).not.toHaveBeenCalled()
})

for (const version of [5, 6] as const) {
  describe(`a user of Redis without channels, by ioredis ${version}`, () => {
    const user = { username: 'mute', password: 'pw' }
    beforeAll(() => server.command('ACL', 'SETUSER', 'mute', 'on', '>pw', '~*', '+@all', 'resetchannels'))

    it('swaps, and is answered', async () => {
      const store = ioredisStore(client(version, server, user))
      const name = fresh()
      const { ok, snapshot } = await swap(store, name, 'open')
      expect(ok).toBe(true)
      expect(snapshot.state).toBe('open')
      expect(await store.circuits.readState(name, terms())).toMatchObject({
        state: 'open',
        fence: snapshot.fence,
      })
    })

    it('listens in vain, at no cost', async () => {
      const store = ioredisStore(client(version, server, user))
      const name = fresh()
      const heard = listen(store, name)
      await until('the subscription to be asked for', async () => (await commandsOf(server)).has('subscribe'))
      expect(await subscribersOf(server)).toEqual([])
      await swap(store, name, 'open')
      await store.close()
      expect(heard.snapshots).toEqual([])
    })

    it('listens in vain on a connection of its own', async () => {
      const subscriber = client(version, server, user)
      const store = ioredisStore(client(version, server), { subscriber })
      listen(store, fresh())
      await until('the subscription to be asked for', async () => (await commandsOf(server)).has('subscribe'))
      await subscriber.ping()
      await store.close()
    })
  })

  describe(`a user of Redis with what is needed and no more, by ioredis ${version}`, () => {
    beforeAll(() =>
      server.command(
        ...['ACL', 'SETUSER', 'app', 'on', '>pw', 'resetkeys', 'resetchannels', '-@all'],
        ...['~tidegate:*', '&tidegate:*', ...NEEDED.map((command) => `+${command}`)],
      ),
    )

    it('does all that there is to do', async () => {
      const store = ioredisStore(client(version, server, { username: 'app', password: 'pw' }))
      await store.ping()
      const name = fresh()
      const heard = listen(store, name)
      await until('the subscription', async () => (await subscribersOf(server)).length === 1)
      const { fence } = await store.circuits.readState(name, terms())
      for (let seq = 1; seq < 8; seq++) {
        const window =
          seq === 7 ? ({ kind: 'consecutive' } as const) : ({ kind: 'time', ms: seq * 10 } as const)
        const outcomes = tally(seq, { failures: 2, successes: 1, trailingFailures: 1 })
        expect((await store.circuits.record(name, fence, outcomes, terms({ window }))).counted).toBe(true)
      }
      const { snapshot } = await swap(store, name, 'open')
      await until('the trip to be heard of', () => heard.has(snapshot.fence))
      expect((await swap(store, name, 'isolated')).ok).toBe(true)
      expect((await swap(store, name, 'closed')).ok).toBe(true)
      for (let n = 0; n < 1100; n++)
        await store.circuits.readState(name, terms({ instance: `instance-${n}` }))
      await store.circuits.forget(name)
      await everythingElse(store)
      await store.close()
      const denied = (await server.command('ACL', 'LOG')) as string[][]
      // ioredis tells newer servers its version, and does not mind where it may not.
      const ours = denied.filter((entry) => entry.includes('app') && !entry.includes('client|setinfo'))
      expect(ours).toEqual([])
    })
  })
}

/** Limits, leases and cache: consumes, settles in and out of turn, takes slots and has them lapse, remembers. */
async function everythingElse({ limits, leases, cache }: IoredisStore): Promise<void> {
  const quotas = ALGORITHMS.map((algorithm) => quota({ name: algorithm, algorithm, limit: 1_100 }))
  for (let n = 0; n < 1_100; n++) {
    const { reservation } = await limits.consume('a', quotas, 1)
    if (n % 50 !== 1) await limits.settle('a', quotas, reservation, 1)
  }
  expect((await limits.peek('a', quotas)).allowed).toBe(false)
  await limits.reset('a')
  const request = { owner: 'me', limit: 1, leaseMs: 1 }
  await until('a lease to lapse', async () => {
    const answer = await leases.acquire('a', { ...request, owner: fresh() })
    return answer.ok && answer.inUse === 1 && !(await leases.renew('a', 'me', '1764560000000000.me', 1))
  })
  const { fence } = await until('a slot', async () => {
    const answer = await leases.acquire('a', { ...request, leaseMs: 60_000 })
    return answer.ok && answer
  })
  expect((await leases.acquire('a', { ...request, owner: 'another' })).ok).toBe(false)
  expect(await leases.renew('a', 'me', fence, 60_000)).toBe(true)
  await leases.release('a', 'me', fence)
  await cache.set('a', 'value', { ttlMs: 60_000 })
  expect((await cache.get('a'))?.value).toBe('value')
  await cache.delete('a')
}
