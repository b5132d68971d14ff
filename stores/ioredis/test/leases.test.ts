import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { client } from './support/clients'
import { HOSTILE } from './support/names'
import { setClock } from './support/set-clock'
import { persistAll, ttlsOf } from './support/ttls'

const server = await startRedis()
afterAll(() => server.stop())

const clock = setClock(server)
const leases = clock.storeOver(client(6, server)).leases
beforeEach(() => clock.flush())

const HOUR = 3_600_000
const LEASE_MS = 10_000

const acquire = (owner: string, limit: number = 1, leaseMs: number = LEASE_MS) =>
  leases.acquire('a', { owner, limit, leaseMs })

describe('a slot', () => {
  it('is taken by as many as there are, of those who come at once', async () => {
    const all = Array.from({ length: 50 }, (_, index) => acquire(`owner-${index}`, 7))
    const answers = await Promise.all(all)
    const taken = answers.filter(({ ok }) => ok)
    expect(taken).toHaveLength(7)
    expect(new Set(taken.map(({ fence }) => fence))).toHaveLength(7)
    expect(answers.at(-1)).toMatchObject({ ok: false, fence: '', inUse: 7 })
  })

  it('is taken once by a command that is delivered twice, and for the longer of the two', async () => {
    const first = await acquire('me', 2)
    await clock.leap(5_000)
    expect(await acquire('me', 2)).toEqual(first)
    expect(await acquire('me', 2, 1)).toEqual(first)
    await clock.leap(9_000)
    // Full to whoever else comes, it is still its owner's.
    expect(await acquire('me', 1)).toEqual(first)
    expect((await acquire('another', 1)).ok).toBe(false)
  })

  it('that was released is taken anew by its owner, under a later fence', async () => {
    const { fence } = await acquire('me')
    await leases.release('a', 'me', fence)
    const again = await acquire('me')
    expect(again.ok && again.fence > fence).toBe(true)
    expect(await leases.renew('a', 'me', fence, LEASE_MS)).toBe(false)
    await leases.release('a', 'me', fence)
    expect(await leases.renew('a', 'me', again.fence, LEASE_MS)).toBe(true)
  })

  it('of an owner that died is free when its lease runs out, which is what others are told', async () => {
    await acquire('dead')
    const { retryAfterMs } = await acquire('me')
    expect(retryAfterMs).toBeGreaterThan(LEASE_MS - 1_000)
    expect(retryAfterMs).toBeLessThanOrEqual(LEASE_MS)
    await clock.leap(retryAfterMs)
    expect(await acquire('me')).toMatchObject({ ok: true, inUse: 1, retryAfterMs: 0 })
  })

  it('is kept by renewing it, and never for less than before', async () => {
    const { fence } = await acquire('me')
    await clock.leap(9_000)
    expect(await leases.renew('a', 'me', fence, LEASE_MS)).toBe(true)
    expect(await leases.renew('a', 'me', fence, 1)).toBe(true)
    await clock.leap(9_000)
    expect((await acquire('another')).ok).toBe(false)
    await clock.leap(2_000)
    expect(await leases.renew('a', 'me', fence, LEASE_MS)).toBe(false)
    expect((await acquire('another')).ok).toBe(true)
  })

  it('is nobody’s by the fence of another', async () => {
    const mine = await acquire('me', 2)
    const others = await acquire('another', 2)
    expect(await leases.renew('a', 'me', others.fence, LEASE_MS)).toBe(false)
    await leases.release('a', 'another', mine.fence)
    await leases.release('a', 'me', `${mine.fence.slice(0, 17)}someone`)
    expect((await acquire('third', 2)).ok).toBe(false)
  })

  it('may be one of thousands, which all lapse at once', async () => {
    const all = Array.from({ length: 9_000 }, (_, index) => acquire(`owner-${index}`, 10_000))
    await Promise.all(all)
    expect((await acquire('me', 10_000)).inUse).toBe(9_001)
    await clock.leap(LEASE_MS)
    expect((await acquire('me', 10_000)).inUse).toBe(1)
    expect(await server.command('HLEN', 'tidegate:{a}:holders')).toBe(4)
  })

  it('can be held for as long as there is', async () => {
    const { fence } = await acquire('me', 1, Number.MAX_SAFE_INTEGER)
    expect(await leases.renew('a', 'me', fence, Number.MAX_SAFE_INTEGER)).toBe(true)
    expect((await acquire('another')).retryAfterMs).toBeGreaterThan(1e15)
  })

  it('of a name is none of any other, whatever is in it', async () => {
    for (const name of HOSTILE) {
      const { ok } = await leases.acquire(name, { owner: 'me', limit: 1, leaseMs: HOUR })
      expect(ok).toBe(true)
      expect((await leases.acquire(name, { owner: 'another', limit: 1, leaseMs: HOUR })).ok).toBe(false)
    }
  })
})

describe('what leases leave behind', () => {
  it('expires after two minutes, or two leases, and never before a lease', async () => {
    const ttls = async (): Promise<number[]> => [...(await ttlsOf(server, 'tidegate:*')).values()]
    const { fence } = await acquire('me', 3)
    expect(await ttls()).toHaveLength(2)
    for (const ttl of await ttls()) expect(ttl).toBeGreaterThan(119_000)
    await acquire('another', 3, HOUR)
    for (const ttl of await ttls()) expect(ttl).toBeGreaterThan(1.99 * HOUR)
    await leases.release('a', 'me', fence)
    await acquire('me', 3)
    for (const ttl of await ttls()) expect(ttl).toBeGreaterThan(1.99 * HOUR)
    await clock.leap(2 * HOUR)
    expect(await ttls()).toEqual([])
  })

  it('expires again by the next write where its expiry was lost, and no lease with it', async () => {
    const long = await acquire('long', 2, HOUR)
    const { fence } = await acquire('me', 2)
    const writes = [
      () => acquire('third', 2),
      () => acquire('me', 2),
      () => leases.renew('a', 'me', fence, LEASE_MS),
      () => leases.renew('a', 'third', fence, LEASE_MS),
      () => leases.release('a', 'third', fence),
      () => leases.release('a', 'me', fence),
    ]
    for (const write of writes) {
      await persistAll(server)
      await write()
      for (const [key, ttl] of await ttlsOf(server, 'tidegate:*'))
        expect(ttl, key).toBeGreaterThan(0.99 * HOUR)
    }
    expect(await leases.renew('a', 'long', long.fence, LEASE_MS)).toBe(true)
  })

  it('blocks nobody where its expiry was lost', async () => {
    await acquire('dead')
    await persistAll(server)
    await clock.leap(LEASE_MS)
    expect((await acquire('me')).ok).toBe(true)
  })

  it('is nothing where there was nothing to renew or release', async () => {
    const fence = '1764560000000000.me'
    expect(await leases.renew('a', 'me', fence, LEASE_MS)).toBe(false)
    await leases.release('a', 'me', fence)
    expect(await server.command('KEYS', 'tidegate:*')).toEqual([])
  })

  it('does not matter where one of the keys was evicted', async () => {
    const { fence } = await acquire('me')
    await server.command('DEL', 'tidegate:{a}:leases')
    const again = await acquire('me')
    expect(again.ok && again.fence > fence).toBe(true)
    await server.command('DEL', 'tidegate:{a}:holders')
    expect(await leases.renew('a', 'me', again.fence, LEASE_MS)).toBe(false)
    await clock.leap(LEASE_MS)
    expect((await acquire('me')).fence > again.fence).toBe(true)
  })
})

describe('a clock that is set back', () => {
  it('makes no lease longer, and none live again that ran out', async () => {
    await acquire('me')
    await clock.step(-HOUR)
    const { retryAfterMs } = await acquire('another')
    expect(retryAfterMs).toBeLessThanOrEqual(LEASE_MS)
    await clock.leap(LEASE_MS)
    const { fence } = await acquire('another')
    expect(fence).not.toBe('')
    await clock.leap(LEASE_MS)
    expect(await leases.renew('a', 'me', fence, LEASE_MS)).toBe(false)
    await clock.step(-HOUR)
    expect(await leases.renew('a', 'another', fence, LEASE_MS)).toBe(false)
    expect((await acquire('me')).fence > fence).toBe(true)
  })
})
