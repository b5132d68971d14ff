import type { Quota } from '@tidegate/contract'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src'
import { handClock } from '../support/clock'
import { heapInUse } from '../support/heap'
import { limitsOf, type PromptLimits } from '../support/parts'

const TEN: readonly Quota[] = [{ name: 'q', algorithm: 'gcra', limit: 10, windowMs: 60_000 }]
const BRIEF: readonly Quota[] = [{ name: 'q', algorithm: 'fixed-window', limit: 10, windowMs: 1_000 }]

function remains(limits: PromptLimits, key: string, quotas = TEN): number | undefined {
  return limits.peek(key, quotas).quotas[0]?.remaining
}

describe('full limits', () => {
  for (const algorithm of ['gcra', 'sliding-window', 'fixed-window'] as const) {
    it(`do not give a key at its limit a new start, whoever floods them, by ${algorithm}`, () => {
      const clock = handClock()
      const limits = limitsOf(memoryStore({ clock, maxKeys: 100 }))
      const quotas = [{ name: 'q', algorithm, limit: 10, windowMs: 60_000 }] as const
      limits.consume('at its limit', quotas, 10)
      for (let index = 0; index < 1_000; index++) {
        clock.advance(1)
        expect(limits.consume(`fresh-${index}`, quotas, 1).allowed).toBe(true)
      }
      expect(limits.consume('at its limit', quotas, 10).allowed).toBe(false)
    })
  }

  it('let the least recently used key go, where all have enough left', () => {
    const limits = limitsOf(memoryStore({ maxKeys: 3 }))
    for (const key of ['a', 'b', 'c', 'a', 'd']) limits.consume(key, TEN, 1)
    expect(['a', 'b', 'c', 'd'].map((key) => remains(limits, key))).toEqual([8, 10, 9, 9])
  })

  it('do not take a look for a use, and a denial for one', () => {
    const limits = limitsOf(memoryStore({ maxKeys: 2 }))
    for (const key of ['a', 'b']) limits.consume(key, TEN, 1)
    limits.peek('a', TEN)
    limits.consume('c', TEN, 1)
    expect(remains(limits, 'a')).toBe(10)
    limits.consume('b', TEN, 11)
    limits.consume('d', TEN, 1)
    expect(['b', 'c'].map((key) => remains(limits, key))).toEqual([9, 10])
  })

  it('keep a key with less than half left of one of its quotas, and not with half', () => {
    const limits = limitsOf(memoryStore({ maxKeys: 2 }))
    const two = [...TEN, { name: 'small', algorithm: 'fixed-window', limit: 3, windowMs: 60_000 }] as const
    for (const quotas of [two, two.toReversed()]) {
      limits.reset('less')
      limits.consume('less', quotas, 2)
      limits.consume('half', TEN, 5)
      limits.consume('other', TEN, 1)
      expect(remains(limits, 'less')).toBe(8)
      expect(remains(limits, 'half')).toBe(10)
    }
  })

  it('let the least recently used key go where all are near a limit', () => {
    const limits = limitsOf(memoryStore({ maxKeys: 3 }))
    for (const key of ['a', 'b', 'c']) limits.consume(key, TEN, 6)
    limits.consume('a', TEN, 1)
    limits.consume('d', TEN, 1)
    expect(['a', 'b', 'c', 'd'].map((key) => remains(limits, key))).toEqual([3, 10, 4, 9])
  })

  it('let what has expired go first, be it the latest used and at its limit', () => {
    const clock = handClock()
    const limits = limitsOf(memoryStore({ clock, maxKeys: 3 }))
    limits.consume('a', TEN, 1)
    limits.consume('b', TEN, 9)
    limits.consume('brief', BRIEF, 10)
    clock.advance(1_000)
    limits.consume('c', TEN, 1)
    expect(['a', 'b', 'c'].map((key) => remains(limits, key))).toEqual([9, 1, 9])
  })

  it('let a key go that was near a limit, and has drained since', () => {
    const clock = handClock()
    const limits = limitsOf(memoryStore({ clock, maxKeys: 3 }))
    limits.consume('drained', TEN, 6)
    clock.advance(6_000)
    limits.consume('a', TEN, 1)
    limits.consume('near', TEN, 9)
    limits.consume('b', TEN, 1)
    expect(['a', 'near', 'b'].map((key) => remains(limits, key))).toEqual([9, 1, 9])
  })

  it('keep a key whose settled cost took it over its limit, and let it go once that was given back', () => {
    const limits = limitsOf(memoryStore({ maxKeys: 2 }))
    const taken = limits.consume('taken', TEN, 1).reservation
    const given = limits.consume('given', TEN, 9).reservation
    limits.settle('taken', TEN, taken, 30)
    limits.settle('given', TEN, given, 1)
    limits.consume('other', TEN, 1)
    expect(['taken', 'given'].map((key) => remains(limits, key))).toEqual([0, 10])
  })
})

describe('a million keys', () => {
  it('stay in the memory of maxKeys', () => {
    const collect = heapInUse()
    const limits = limitsOf(memoryStore({ maxKeys: 1_000 }))
    const before = collect()
    for (let index = 0; index < 300_000; index++) limits.consume(`key-${index}`, TEN, index % 10)
    expect(collect() - before).toBeLessThan(2_000_000)
    expect(remains(limits, 'key-299999')).toBe(1)
  }, 60_000)

  it('find room at once though all are near a limit, and stay there', () => {
    const [small, large] = [limitsOf(memoryStore({ maxKeys: 1 })), limitsOf(memoryStore())]
    const fill = (limits: PromptLimits, from: number): number => {
      const start = performance.now()
      for (let index = from; index < from + 10_000; index++) limits.consume(`key-${index}`, TEN, 9)
      return performance.now() - start
    }
    const rounds = [0, 10_000, 20_000, 30_000]
    const fastest = (limits: PromptLimits): number =>
      Math.min(...rounds.map((from) => fill(limits, from)).slice(1))
    // To walk over those there are would take a hundred times as long.
    expect(fastest(large)).toBeLessThan(15 * fastest(small))
  })
})

describe('a key', () => {
  it('takes no more memory with each consumption, settled or not', () => {
    const collect = heapInUse()
    const clock = handClock()
    const limits = limitsOf(memoryStore({ clock }))
    const quotas = (['gcra', 'sliding-window', 'fixed-window'] as const).map(
      (algorithm): Quota => ({
        name: algorithm,
        algorithm,
        limit: 1_000_000,
        windowMs: algorithm === 'sliding-window' ? 32 : 1_000,
      }),
    )
    const consume = (times: number): void => {
      for (let index = 0; index < times; index++) {
        clock.advance(1)
        const { reservation } = limits.consume('key', quotas, 1)
        // Each other one is never settled, as those of callers that died are not.
        if (index % 2 === 0) limits.settle('key', quotas, reservation, 2)
      }
    }
    // With all that is remembered in place, and what the engine makes of it.
    consume(10_000)
    const before = collect()
    consume(100_000)
    // Numbers of what was settled, kept, would come to some 400 KB or more.
    expect(collect() - before).toBeLessThan(250_000)
    expect(limits.peek('key', quotas).allowed).toBe(true)
  })
})
