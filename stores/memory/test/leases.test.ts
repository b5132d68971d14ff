import { fenceDigits, fenceNonce } from '@tidegate/contract'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../src'
import { circuitsOf, terms } from './support/caller'
import { handClock } from './support/clock'
import { heapInUse } from './support/heap'
import { leasesOf } from './support/parts'

function begun(maxKeys = 10) {
  const clock = handClock()
  const store = memoryStore({ clock, maxKeys })
  const leases = leasesOf(store)
  const acquire = (owner: string, limit = 2, leaseMs = 1_000, name = 'name') =>
    leases.acquire(name, { owner, limit, leaseMs })
  return { clock, store, leases, acquire }
}

describe('leases', () => {
  it('lend so many slots, and say when the next may be free', () => {
    const { clock, acquire } = begun()
    expect(acquire('a', 2, 1_000)).toMatchObject({ ok: true, inUse: 1, retryAfterMs: 0 })
    clock.advance(10)
    expect(acquire('b', 2, 500)).toMatchObject({ ok: true, inUse: 2 })
    clock.advance(10)
    expect(acquire('c')).toEqual({ ok: false, fence: '', inUse: 2, retryAfterMs: 490 })
    expect(acquire('c', 3)).toMatchObject({ ok: true, inUse: 3 })
    expect(acquire('d', 1)).toMatchObject({ ok: false, inUse: 3 })
  })

  it('free a slot when its lease runs out, and not a millisecond before', () => {
    const { clock, leases, acquire } = begun()
    const { fence } = acquire('a', 1)
    clock.advance(999)
    expect(acquire('b', 1)).toMatchObject({ ok: false, retryAfterMs: 1 })
    clock.advance(1)
    expect(leases.renew('name', 'a', fence, 1_000)).toBe(false)
    expect(acquire('b', 1)).toMatchObject({ ok: true, inUse: 1 })
  })

  it('answer a delivery as the one before it, with the longer lease', () => {
    const { clock, acquire } = begun()
    const { fence } = acquire('a', 1, 1_000)
    clock.advance(100)
    expect(acquire('a', 1, 200)).toMatchObject({ ok: true, fence, inUse: 1 })
    expect(acquire('b', 1).retryAfterMs).toBe(900)
    expect(acquire('a', 1, 2_000)).toMatchObject({ ok: true, fence })
    expect(acquire('b', 1).retryAfterMs).toBe(2_000)
  })

  it('renew what is held under this fence, and shorten nothing', () => {
    const { clock, leases, acquire } = begun()
    const { fence } = acquire('a', 1, 1_000)
    expect(leases.renew('name', 'a', fence, 100)).toBe(true)
    expect(acquire('b', 1).retryAfterMs).toBe(1_000)
    clock.advance(600)
    expect(leases.renew('name', 'a', fence, 1_000)).toBe(true)
    clock.advance(999)
    expect(acquire('b', 1)).toMatchObject({ ok: false, retryAfterMs: 1 })
    expect(leases.renew('name', 'b', fence, 1_000)).toBe(false)
    expect(leases.renew('other', 'a', fence, 1_000)).toBe(false)
  })

  it('release what is held under this fence, and nothing else', () => {
    const { clock, leases, acquire } = begun()
    const before = acquire('a', 1).fence
    clock.advance(1_000)
    const { fence } = acquire('a', 1)
    leases.release('name', 'a', before)
    leases.release('name', 'b', fence)
    leases.release('other', 'a', fence)
    expect(leases.renew('name', 'a', before, 1_000)).toBe(false)
    expect(acquire('b', 1).ok).toBe(false)
    leases.release('name', 'a', fence)
    leases.release('name', 'a', fence)
    expect(acquire('b', 1)).toMatchObject({ ok: true, inUse: 1 })
  })

  it('mint fences of the owner that grow with each holding, over all there is', () => {
    const { clock, store, leases, acquire } = begun()
    const digits: number[] = []
    for (let index = 0; index < 50; index++) {
      const { fence } = acquire('a', 1, 1_000, `name-${index % 3}`)
      expect(fenceNonce(fence)).toBe('a')
      digits.push(fenceDigits(fence))
      leases.release(`name-${index % 3}`, 'a', fence)
      digits.push(fenceDigits(circuitsOf(store).readState(`circuit-${index}`, terms()).fence))
      if (index % 7 === 0) clock.advance(-1_000)
    }
    expect(digits).toEqual([...new Set(digits)].sort((a, b) => a - b))
  })

  it('go on running out while the clock is behind', () => {
    const { clock, acquire } = begun()
    acquire('a', 1)
    clock.advance(-3_600_000)
    expect(acquire('b', 1)).toMatchObject({ ok: false, retryAfterMs: 1_000 })
    clock.advance(1_000)
    expect(acquire('b', 1).ok).toBe(true)
  })
})

describe('full leases', () => {
  it('let no name go of which a slot is taken, and say so', () => {
    const { leases, acquire } = begun(2)
    const { fence } = acquire('a', 1, 1_000, 'one')
    acquire('a', 1, 1_000, 'two')
    const refused = expect(() => acquire('a', 1, 1_000, 'three'))
    refused.toThrow(expect.objectContaining({ code: 'STORE_FULL' }))
    refused.toThrow(/larger maxKeys/)
    expect(acquire('b', 2, 1_000, 'one')).toMatchObject({ ok: true, inUse: 2 })
    expect(acquire('b', 1, 1_000, 'two').ok).toBe(false)
    leases.release('one', 'a', fence)
    expect(() => acquire('a', 1, 1_000, 'three')).toThrow(/larger maxKeys/)
  })

  it('take another name as soon as the last slot of one is free', () => {
    const { clock, leases, acquire } = begun(2)
    const { fence } = acquire('a', 2, 5_000, 'one')
    acquire('b', 2, 10, 'one')
    acquire('a', 2, 1_000, 'two')
    clock.advance(10)
    expect(() => acquire('a', 1, 1_000, 'three')).toThrow(/larger maxKeys/)
    leases.release('one', 'a', fence)
    expect(acquire('a', 1, 2_000, 'three').ok).toBe(true)
    clock.advance(989)
    expect(() => acquire('a', 1, 1_000, 'four')).toThrow(/larger maxKeys/)
    clock.advance(1)
    expect(acquire('a', 1, 1_000, 'four').ok).toBe(true)
  })

  it('take another name when the short lease of one is over, the long one having been released', () => {
    const { clock, leases, acquire } = begun(1)
    acquire('short', 2, 10, 'one')
    const { fence } = acquire('long', 2, 5_000, 'one')
    leases.release('one', 'long', fence)
    clock.advance(10)
    expect(acquire('a', 1, 1_000, 'two').ok).toBe(true)
  })

  it('keep a name that was renewed, though its first lease is over', () => {
    const { clock, leases, acquire } = begun(1)
    const { fence } = acquire('a', 1, 1_000, 'one')
    leases.renew('one', 'a', fence, 5_000)
    clock.advance(4_999)
    expect(() => acquire('a', 1, 1_000, 'two')).toThrow(/larger maxKeys/)
    clock.advance(1)
    expect(acquire('a', 1, 1_000, 'two').ok).toBe(true)
  })

  it('keep nothing of names that nobody holds', () => {
    const collect = heapInUse()
    const { clock, leases, acquire } = begun(1_000)
    const before = collect()
    for (let index = 0; index < 100_000; index++) {
      const { fence } = acquire('a', 1, 100, `name-${index}`)
      if (index % 2) leases.release(`name-${index}`, 'a', fence)
      clock.advance(1)
    }
    expect(collect() - before).toBeLessThan(1_000_000)
    expect(acquire('a').inUse).toBe(1)
  })
})
