import { describe, expect, it } from 'vitest'
import { memoryStore } from '../src'
import { handClock } from './support/clock'
import { heapInUse } from './support/heap'
import { cacheOf } from './support/parts'

function begun(maxKeys = 10) {
  const clock = handClock()
  return { clock, cache: cacheOf(memoryStore({ clock, maxKeys })) }
}

describe('the cache', () => {
  it('gives back what was set, with its age, until its time is over', () => {
    const { clock, cache } = begun()
    cache.set('key', 'värde', { ttlMs: 1_000 })
    expect(cache.get('key')).toEqual({ value: 'värde', ageMs: 0 })
    clock.advance(999.5)
    expect(cache.get('key')).toEqual({ value: 'värde', ageMs: 999 })
    clock.advance(0.5)
    expect(cache.get('key')).toBeUndefined()
    expect(cache.get('other')).toBeUndefined()
  })

  it('begins anew with each set, be its time shorter', () => {
    const { clock, cache } = begun()
    cache.set('key', 'one', { ttlMs: 1_000 })
    clock.advance(900)
    cache.set('key', '', { ttlMs: 200 })
    clock.advance(199)
    expect(cache.get('key')).toEqual({ value: '', ageMs: 199 })
    clock.advance(1)
    expect(cache.get('key')).toBeUndefined()
  })

  it('forgets what is deleted, and that alone', () => {
    const { cache } = begun()
    cache.set('a', 'a', { ttlMs: 1_000 })
    cache.set('b', 'b', { ttlMs: 1_000 })
    cache.delete('a')
    cache.delete('a')
    expect([cache.get('a'), cache.get('b')?.value]).toEqual([undefined, 'b'])
  })

  it('grows older, and never younger, while the clock is behind', () => {
    const { clock, cache } = begun()
    cache.set('key', 'value', { ttlMs: 1_000 })
    clock.advance(-3_600_000)
    expect(cache.get('key')?.ageMs).toBe(0)
    clock.advance(400)
    expect(cache.get('key')?.ageMs).toBe(400)
    clock.advance(600)
    expect(cache.get('key')).toBeUndefined()
  })
})

describe('a full cache', () => {
  it('lets the least recently used go, set or read', () => {
    const { cache } = begun(3)
    for (const key of ['a', 'b', 'c']) cache.set(key, key, { ttlMs: 1_000 })
    cache.get('a')
    cache.set('b', 'again', { ttlMs: 1_000 })
    cache.set('d', 'd', { ttlMs: 1_000 })
    expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key)?.value)).toEqual(['a', 'again', undefined, 'd'])
  })

  it('lets what is over go before it, also where its time was made shorter', () => {
    const { clock, cache } = begun(3)
    cache.set('a', 'a', { ttlMs: 1_000 })
    cache.set('b', 'b', { ttlMs: 1_000 })
    cache.set('c', 'c', { ttlMs: 1_000 })
    cache.set('c', 'c', { ttlMs: 10 })
    clock.advance(10)
    cache.set('d', 'd', { ttlMs: 1_000 })
    expect(['a', 'b', 'd'].map((key) => cache.get(key)?.value)).toEqual(['a', 'b', 'd'])
  })

  it('stays in the memory of maxKeys', () => {
    const collect = heapInUse()
    const { cache } = begun(1_000)
    const before = collect()
    for (let index = 0; index < 200_000; index++) {
      cache.set(`key-${index}`, `value-${index}`, { ttlMs: 60_000 })
    }
    expect(collect() - before).toBeLessThan(1_000_000)
    expect(cache.get('key-199999')?.value).toBe('value-199999')
  })
})
