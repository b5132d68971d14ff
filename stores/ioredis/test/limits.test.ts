import { capacityOf, MAX_SETTLED } from '@tidegate/contract'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { ioredisStore } from '../src'
import { client } from './support/clients'
import { commandsOf } from './support/connections'
import { dumpOf } from './support/dump'
import { HOSTILE } from './support/names'
import { ALGORITHMS, quota } from './support/quotas'
import { setClock } from './support/set-clock'
import { persistAll, ttlsOf } from './support/ttls'

const server = await startRedis()
afterAll(() => server.stop())

const clock = setClock(server)
const redis = client(6, server)
const limits = clock.storeOver(redis).limits
beforeEach(() => clock.flush())

const HOUR = 3_600_000

describe('a consumption', () => {
  it('is one round trip, and three commands of Redis once the key is there', async () => {
    const { limits } = ioredisStore(redis)
    const quotas = ALGORITHMS.map((algorithm) => quota({ name: algorithm, algorithm }))
    await limits.consume('a', quotas, 1)
    await server.command('CONFIG', 'RESETSTAT')
    await limits.consume('a', quotas, 1)
    const commands = await commandsOf(server)
    expect(Object.fromEntries([...commands].filter(([name]) => !name.includes('config')))).toEqual({
      evalsha: 1,
      get: 1,
      time: 1,
      set: 1,
    })
  })

  for (const algorithm of ALGORITHMS) {
    it(`of many at once is allowed to the limit and no further, by ${algorithm}`, async () => {
      const all = Array.from({ length: 40 }, () => limits.consume('a', [quota({ algorithm })], 1))
      const decisions = await Promise.all(all)
      expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10)
      const reservations = decisions.filter(({ allowed }) => allowed).map(({ reservation }) => reservation)
      expect(new Set(reservations)).toHaveLength(10)
    })

    it(`is allowed again after what it was told to wait, and not before, by ${algorithm}`, async () => {
      await limits.consume('a', [quota({ algorithm })], 10)
      const { retryAfterMs } = await limits.consume('a', [quota({ algorithm })], 1)
      expect(retryAfterMs).toBeGreaterThan(5_000)
      await clock.leap(retryAfterMs - 1_000)
      expect((await limits.peek('a', [quota({ algorithm })])).allowed).toBe(false)
      await clock.leap(1_000)
      expect((await limits.consume('a', [quota({ algorithm })], 1)).allowed).toBe(true)
    })

    it(`of more than there can be is told to wait for ever, by ${algorithm}`, async () => {
      const decision = await limits.consume('a', [quota({ algorithm })], 11)
      expect(decision).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
      expect(await server.command('KEYS', 'tidegate:*')).toEqual([])
    })

    it(`takes the largest quota and cost that there are, by ${algorithm}`, async () => {
      const limit = Math.floor(Number.MAX_SAFE_INTEGER / 8 / 1_000)
      const quotas = [quota({ algorithm, limit, windowMs: 1_000 })]
      const { reservation } = await limits.consume('a', quotas, limit)
      await limits.settle('a', quotas, reservation, 0)
      await limits.consume('a', quotas, 1)
      for (let n = 0; n < 20; n++) {
        const { reservation } = await limits.consume('b', quotas, 0)
        if (reservation !== '') await limits.settle('b', quotas, reservation, limit)
      }
      expect((await limits.consume('b', quotas, 1)).allowed).toBe(false)
      const long = [quota({ algorithm, limit: 1, windowMs: limit })]
      expect((await limits.consume('c', long, 1)).quotas).toMatchObject([{ remaining: 0, resetMs: limit }])
    })
  }

  it('takes of all quotas or of none', async () => {
    const quotas = [quota({ name: 'wide', limit: 100 }), quota({ name: 'narrow', limit: 2 })]
    await limits.consume('a', quotas, 2)
    const { violated, quotas: states } = await limits.consume('a', quotas, 1)
    expect(violated).toEqual(['narrow'])
    expect(states.map(({ remaining }) => remaining)).toEqual([98, 0])
  })

  it('goes on by another limit, and begins anew by another window', async () => {
    await limits.consume('a', [quota({ algorithm: 'fixed-window' })], 8)
    const remainingOf = async (over: object): Promise<number | undefined> =>
      (await limits.peek('a', [quota({ algorithm: 'fixed-window', ...over })])).quotas[0]?.remaining
    expect(await remainingOf({ limit: 20 })).toBe(12)
    expect(await remainingOf({ limit: 5 })).toBe(0)
    expect(await remainingOf({ windowMs: 61_000 })).toBe(10)
    expect(await remainingOf({ algorithm: 'gcra' })).toBe(10)
    expect(await remainingOf({ name: 'r' })).toBe(10)
  })

  it('of a key is none of any other, whatever is in its name', async () => {
    for (const key of HOSTILE) {
      const { allowed } = await limits.consume(key, [quota({ limit: 1 })], 1)
      if (!allowed) expect.fail(`${JSON.stringify(key.slice(0, 20))} is another’s`)
    }
    for (const key of HOSTILE) expect((await limits.peek(key, [quota({ limit: 1 })])).allowed).toBe(false)
    await limits.reset('a')
    for (const key of HOSTILE.slice(1))
      expect((await limits.peek(key, [quota({ limit: 1 })])).allowed).toBe(false)
  })

  it('of a quota is none of any other, whatever is in its name', async () => {
    for (const name of HOSTILE.slice(0, 16)) {
      const { allowed } = await limits.consume('a', [quota({ name, limit: 1 })], 1)
      if (!allowed) expect.fail(`${JSON.stringify(name)} is another’s`)
    }
    for (const name of HOSTILE.slice(0, 16)) {
      expect(await limits.consume('a', [quota({ name, limit: 1 })], 1)).toMatchObject({ violated: [name] })
    }
  })
})

describe('a peek', () => {
  it('writes nothing, not even what time it was', async () => {
    const peek = (): Promise<unknown> =>
      Promise.all(ALGORITHMS.map((algorithm) => limits.peek('a', [quota({ algorithm })])))
    await peek()
    expect(await server.command('KEYS', 'tidegate:*')).toEqual([])
    await limits.consume('a', [quota()], 10)
    const before = await dumpOf(server)
    await peek()
    expect(await dumpOf(server)).toEqual(before)
  })
})

describe('a settlement', () => {
  it('counts once', async () => {
    const { reservation } = await limits.consume('a', [quota()], 5)
    for (const cost of [2, 0, 9]) await limits.settle('a', [quota()], reservation, cost)
    expect((await limits.peek('a', [quota()])).quotas).toMatchObject([{ remaining: 8 }])
  })

  it('is none of a key that was reset, or of which Redis forgot all', async () => {
    const forget = [() => limits.reset('a'), () => clock.flush()]
    for (const lose of forget) {
      const { reservation } = await limits.consume('a', [quota()], 5)
      await lose()
      await limits.consume('a', [quota()], 5)
      await limits.settle('a', [quota()], reservation, 0)
      expect((await limits.peek('a', [quota()])).quotas).toMatchObject([{ remaining: 5 }])
      await limits.reset('a')
    }
  })

  it('may leave a debt, which is made up for before anything is allowed', async () => {
    for (const algorithm of ALGORITHMS) {
      const quotas = [quota({ algorithm })]
      const { reservation } = await limits.consume(algorithm, quotas, 1)
      await limits.settle(algorithm, quotas, reservation, 25)
      const { allowed, retryAfterMs } = await limits.consume(algorithm, quotas, 0)
      expect(allowed).toBe(false)
      expect(retryAfterMs).toBeGreaterThan(50_000)
    }
  })

  it('gives no quota back more than was consumed of it', async () => {
    for (const algorithm of ALGORITHMS) {
      const [one, other] = ['one', 'other'].map((name) => [quota({ name, algorithm, windowMs: 24 * HOUR })])
      await limits.consume(algorithm, other ?? [], 1)
      const { reservation } = await limits.consume(algorithm, one ?? [], 5)
      await limits.settle(algorithm, other ?? [], reservation, 0)
      expect((await limits.peek(algorithm, other ?? [])).quotas).toMatchObject([{ remaining: 10 }])
    }
  })

  it('leaves nothing to be remembered where each comes in its turn', async () => {
    for (let n = 0; n < 100; n++) {
      const { reservation } = await limits.consume('a', [quota({ limit: 1_000 })], 1)
      await limits.settle('a', [quota({ limit: 1_000 })], reservation, 1)
    }
    expect(await server.command('KEYS', 'tidegate:*')).toEqual(['tidegate:{a}:limits'])
  })

  it('is remembered of the latest 1,024, and of none that is older', async () => {
    const quotas = [quota({ algorithm: 'fixed-window', limit: 5_000 })]
    const all = Array.from({ length: MAX_SETTLED + 3 }, () => limits.consume('a', quotas, 1))
    const [first, second, ...rest] = (await Promise.all(all)).map(({ reservation }) => reservation)
    const settle = async (reservation: string | undefined): Promise<number | undefined> => {
      await limits.settle('a', quotas, reservation ?? '', 0)
      return (await limits.peek('a', quotas)).quotas[0]?.remaining
    }
    const remaining = 5_000 - MAX_SETTLED - 3
    expect(rest).toHaveLength(MAX_SETTLED + 1)
    // From the last on, for there to be a gap before each.
    const settled = rest.slice(1).reverse()
    for (const reservation of settled) await limits.settle('a', quotas, reservation, 0)
    expect(Number(await server.command('ZCARD', 'tidegate:{a}:settled'))).toBe(MAX_SETTLED)
    expect(await settle(settled.at(-1))).toBe(remaining + MAX_SETTLED)
    // One more, and the lowest, which is this one itself, is where it ends.
    expect(await settle(rest[0])).toBe(remaining + MAX_SETTLED + 1)
    expect(Number(await server.command('EXISTS', 'tidegate:{a}:settled'))).toBe(0)
    for (const old of [first, second, rest[0], ...settled.slice(-2)]) {
      expect(await settle(old)).toBe(remaining + MAX_SETTLED + 1)
    }
  })
})

describe('what limits leave behind', () => {
  it('expires with the longest of windows and of what is left', async () => {
    const short = quota({ name: 'short', algorithm: 'sliding-window', windowMs: 1_000 })
    const { reservation } = await limits.consume('a', [short, quota()], 1)
    const second = await limits.consume('a', [short, quota()], 1)
    await limits.settle('a', [short, quota()], second.reservation, 1)
    const ttls = await ttlsOf(server, 'tidegate:*')
    expect([...ttls.keys()].sort()).toEqual(['tidegate:{a}:limits', 'tidegate:{a}:settled'])
    for (const ttl of ttls.values()) expect(ttl).toBeGreaterThan(59_000)
    await limits.settle('a', [quota()], reservation, 40)
    await limits.consume('a', [short], 0)
    for (const ttl of (await ttlsOf(server, 'tidegate:*')).values()) expect(ttl).toBeGreaterThan(200_000)
    await clock.leap(300_000)
    expect(await server.command('KEYS', 'tidegate:*')).toEqual([])
  })

  it('expires again by the next write where its expiry was lost', async () => {
    const writes = [
      () => limits.consume('a', [quota()], 1),
      () => limits.consume('a', [quota()], 11),
      async () => {
        const { reservation } = await limits.consume('a', [quota({ name: 'r' })], 1)
        await persistAll(server)
        await limits.settle('a', [quota({ name: 'r' })], reservation, 1)
      },
    ]
    // One that is settled out of turn is remembered one by one.
    await limits.consume('a', [quota()], 1)
    const { reservation } = await limits.consume('a', [quota()], 1)
    await limits.settle('a', [quota()], reservation, 1)
    for (const write of writes) {
      await persistAll(server)
      await write()
      const ttls = await ttlsOf(server, 'tidegate:*')
      expect(ttls).toHaveLength(2)
      for (const [key, ttl] of ttls) expect(ttl, key).toBeGreaterThan(50_000)
    }
  })

  it('blocks nobody where its expiry was lost', async () => {
    for (const algorithm of ALGORITHMS) {
      const { reservation } = await limits.consume(algorithm, [quota({ algorithm })], 10)
      await persistAll(server)
      await clock.leap(60_000)
      await limits.settle(algorithm, [quota({ algorithm })], reservation, 100)
      expect((await limits.consume(algorithm, [quota({ algorithm })], 10)).allowed).toBe(true)
    }
  })

  it('is of no use to the next life of a key', async () => {
    await limits.consume('a', [quota()], 1)
    const { reservation } = await limits.consume('a', [quota()], 1)
    await limits.settle('a', [quota()], reservation, 1)
    // As by eviction: the other key stays.
    await server.command('DEL', 'tidegate:{a}:limits')
    await limits.consume('a', [quota()], 1)
    const second = await limits.consume('a', [quota()], 5)
    await limits.settle('a', [quota()], second.reservation, 0)
    expect((await limits.peek('a', [quota()])).quotas).toMatchObject([{ remaining: 9 }])
  })

  it('is at most sixteen slots', async () => {
    for (let n = 0; n < 40; n++) await limits.consume('a', [quota({ name: `q${n}` })], 5)
    const lines = String(await server.command('GET', 'tidegate:{a}:limits')).split('\n')
    expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual(
      Array.from({ length: 16 }, (_, index) => `q${24 + index}`),
    )
  })

  it('is without slots in which nothing is left, unless they are asked for', async () => {
    await limits.consume('a', [quota({ name: 'short', windowMs: 1_000 }), quota({ name: 'long' })], 1)
    await clock.leap(2_000)
    await limits.consume('a', [quota({ name: 'long' })], 1)
    expect(String(await server.command('GET', 'tidegate:{a}:limits'))).not.toContain('short')
  })

  it('is no longer than a window has slices', async () => {
    const quotas = [quota({ algorithm: 'sliding-window', limit: 1_000 })]
    for (let n = 0; n < 200; n++) {
      await clock.leap(500)
      await limits.consume('a', quotas, 1)
    }
    const [, slot = ''] = String(await server.command('GET', 'tidegate:{a}:limits')).split('\n')
    expect((slot.split(' ').length - 4) / 2).toBeLessThanOrEqual(33)
  })

  it('is gone when it was reset', async () => {
    await limits.consume('a', [quota()], 1)
    const { reservation } = await limits.consume('a', [quota()], 10 - 1)
    await limits.settle('a', [quota()], reservation, 9)
    await limits.reset('a')
    expect(await server.command('KEYS', 'tidegate:*')).toEqual([])
    expect((await limits.peek('a', [quota()])).quotas).toMatchObject([{ remaining: 10 }])
  })
})

describe('a clock that is set back', () => {
  for (const algorithm of ALGORITHMS) {
    it(`makes nobody wait longer, and lets nobody through sooner, by ${algorithm}`, async () => {
      const quotas = [quota({ algorithm })]
      await limits.consume('a', quotas, capacityOf(quotas[0] ?? quota()))
      const { retryAfterMs } = await limits.consume('a', quotas, 1)
      await clock.step(-HOUR)
      const then = await limits.consume('a', quotas, 1)
      expect(then.allowed).toBe(false)
      expect(then.retryAfterMs).toBeLessThanOrEqual(retryAfterMs)
      expect(then.retryAfterMs).toBeGreaterThan(retryAfterMs - 1_000)
      await clock.leap(retryAfterMs)
      expect((await limits.consume('a', quotas, 1)).allowed).toBe(true)
    })
  }

  it('brings no window back that a denied consumption saw the end of', async () => {
    const quotas = [quota({ algorithm: 'fixed-window' })]
    await limits.consume('a', quotas, 10)
    await clock.step(60_000 - 500)
    await limits.consume('a', quotas, 1)
    await clock.step(-HOUR)
    expect((await limits.peek('a', quotas)).retryAfterMs).toBeLessThanOrEqual(500)
  })
})
