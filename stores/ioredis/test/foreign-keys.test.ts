import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { ioredisStore } from '../src'
import { tally, terms } from './support/caller'
import { client } from './support/clients'
import { dumpOf } from './support/dump'
import { quota } from './support/quotas'

const server = await startRedis()
afterAll(() => server.stop())
beforeEach(() => server.command('FLUSHALL'))

const { circuits, limits, leases } = ioredisStore(client(6, server))
const PARTS = ['circuit', 'instances', 'numbers', 'counts', 'failed', 'failing']
const window = { kind: 'consecutive' } as const

describe('a key that somebody else has set', () => {
  it('at the name of a circuit makes each command reject, and is left as it is', async () => {
    await server.command('SET', 'tidegate:{a}:circuit', 'theirs')
    const before = await dumpOf(server)
    const fence = '1764560000000000.nonce'
    const commands = [
      () => circuits.readState('a', terms()),
      () => circuits.record('a', fence, tally(1, { failures: 1 }), terms()),
      () => circuits.compareAndSet('a', 'closed', 'open', fence, terms()),
    ]
    for (const command of commands) {
      await expect(command()).rejects.toThrow('WRONGTYPE')
      expect(await dumpOf(server)).toEqual(before)
    }
  })

  for (const part of PARTS) {
    it(`in place of ${part} takes nothing from what else is there, and nothing is lost once it is gone`, async () => {
      const { fence } = await circuits.readState('a', terms())
      const count = (seq: number, instance: string) =>
        circuits.record('a', fence, tally(seq, { failures: 1 }), terms({ instance, window }))
      await count(1, 'first')
      await count(1, 'second')
      const key = `tidegate:{a}:${part}`
      await server.command('RENAME', key, 'ours')
      await server.command('SET', key, 'theirs')
      await expect(count(1, 'third')).rejects.toThrow('WRONGTYPE')
      expect(await server.command('GET', key)).toBe('theirs')
      await server.command('RENAME', 'ours', key)
      // Delivered again, as its caller does who got an error.
      const { counted, counters } = await count(1, 'third')
      expect(counted).toBe(true)
      expect(counters).toMatchObject({ failures: 3, consecutiveFailures: 3, reporters: 3 })
    })
  }
})

describe('a circuit that somebody else has written to', () => {
  it('is refused with a code where its fields do not go together', async () => {
    await circuits.readState('a', terms())
    await server.command('HSET', 'tidegate:{a}:circuit', 'state', 'open')
    await expect(circuits.readState('a', terms())).rejects.toMatchObject({ code: 'STORE_UNREADABLE' })
  })

  it('is refused with a code where its state is none', async () => {
    await circuits.readState('a', terms())
    await server.command('HSET', 'tidegate:{a}:circuit', 'state', 'ajar')
    await expect(circuits.readState('a', terms())).rejects.toMatchObject({ code: 'STORE_UNREADABLE' })
  })

  it('can be forgotten, and is then another one', async () => {
    await server.command('HSET', 'tidegate:{a}:circuit', 'state', 'ajar')
    await circuits.forget('a')
    expect((await circuits.readState('a', terms())).state).toBe('closed')
  })
})

describe('what somebody else has set in the place of limits', () => {
  const commands = [
    () => limits.consume('a', [quota()], 1),
    () => limits.peek('a', [quota()]),
    () => limits.settle('a', [quota()], '1.1.1.1', 1),
  ]

  it('is refused with a code, and left as it is until the key is reset', async () => {
    for (const theirs of ['', 'theirs', '5', '1 2 3', '1 2 3 4 5 6 7 8', '{"a":1}']) {
      await server.command('SET', 'tidegate:{a}:limits', theirs)
      for (const command of commands) {
        await expect(command()).rejects.toMatchObject({ code: 'STORE_UNREADABLE' })
        expect(await server.command('GET', 'tidegate:{a}:limits')).toBe(theirs)
      }
      await limits.reset('a')
      expect((await limits.peek('a', [quota()])).allowed).toBe(true)
    }
  })

  it('makes each command reject where it is no text', async () => {
    await server.command('SADD', 'tidegate:{a}:limits', 'theirs')
    const before = await dumpOf(server)
    for (const command of commands) await expect(command()).rejects.toThrow('WRONGTYPE')
    expect(await dumpOf(server)).toEqual(before)
  })

  it('makes a settlement reject where it is in the place of those, and nothing is half done', async () => {
    await limits.consume('a', [quota()], 1)
    const { reservation } = await limits.consume('a', [quota()], 5)
    await server.command('SET', 'tidegate:{a}:settled', 'theirs')
    const before = await dumpOf(server)
    await expect(limits.settle('a', [quota()], reservation, 0)).rejects.toThrow('WRONGTYPE')
    expect(await dumpOf(server)).toEqual(before)
    await server.command('DEL', 'tidegate:{a}:settled')
    await limits.settle('a', [quota()], reservation, 0)
    expect((await limits.peek('a', [quota()])).quotas).toMatchObject([{ remaining: 9 }])
  })
})

describe('what somebody else has set in the place of leases', () => {
  for (const part of ['leases', 'holders']) {
    it(`makes each command reject where it is in the place of ${part}, and nothing is half done`, async () => {
      const request = { owner: 'me', limit: 2, leaseMs: 60_000 }
      const { fence } = await leases.acquire('a', request)
      await server.command('SET', `tidegate:{a}:${part}`, 'theirs')
      const before = await dumpOf(server)
      const commands = [
        () => leases.acquire('a', request),
        () => leases.acquire('a', { ...request, owner: 'another' }),
        () => leases.renew('a', 'me', fence, 1),
        () => leases.release('a', 'me', fence),
      ]
      for (const command of commands) await expect(command()).rejects.toThrow('WRONGTYPE')
      expect(await dumpOf(server)).toEqual(before)
    })
  }
})
