import type { LimitAlgorithm, Quota } from '@tidegate/contract'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src'
import { handClock } from '../support/clock'
import { limitsOf } from '../support/parts'

const START = Date.UTC(2026, 0, 1)

/** One key under one quota, from a round moment on. */
function underOne(algorithm: LimitAlgorithm, over: Partial<Quota> = {}) {
  const clock = handClock(START)
  const limits = limitsOf(memoryStore({ clock }))
  const quotas: readonly Quota[] = [{ name: 'q', algorithm, limit: 10, windowMs: 1_000, ...over }]
  return {
    at: (ms: number) => clock.advance(START + ms - clock.now()),
    consume: (cost: number) => limits.consume('key', quotas, cost),
    settle: (reservation: string, cost: number) => limits.settle('key', quotas, reservation, cost),
    state: () => {
      const [state] = limits.peek('key', quotas).quotas
      return [state?.remaining, state?.resetMs]
    },
  }
}

describe('gcra', () => {
  it('lets a burst through at once, and then as much as drains', () => {
    const { at, consume, state } = underOne('gcra', { burst: 3 })
    expect(consume(3)).toMatchObject({ allowed: true, quotas: [{ remaining: 0, resetMs: 300 }] })
    expect(consume(1)).toMatchObject({ allowed: false, violated: ['q'], retryAfterMs: 100 })
    at(99)
    expect(consume(1)).toMatchObject({ allowed: false, retryAfterMs: 1 })
    at(100)
    expect(state()).toEqual([1, 200])
    expect(consume(1).allowed).toBe(true)
  })

  it('spreads what no whole number of milliseconds lies between', () => {
    const { at, consume } = underOne('gcra', { limit: 3, burst: 1 })
    const moments: number[] = []
    for (let ms = 0; ms < 3_000; ms++) {
      at(ms)
      if (consume(1).allowed) moments.push(ms)
    }
    expect(moments.slice(0, 4)).toEqual([0, 334, 668, 1_002])
  })

  it('gives back what has not drained since', () => {
    const { at, consume, settle, state } = underOne('gcra')
    const { reservation } = consume(10)
    at(400)
    // Four have drained: of the eight that were not needed four are still held.
    settle(reservation, 2)
    expect(state()).toEqual([8, 200])
  })

  it('makes up for a debt before anything is allowed, be it nothing', () => {
    const { at, consume, settle, state } = underOne('gcra')
    settle(consume(1).reservation, 15)
    expect(state()).toEqual([0, 1_500])
    expect(consume(0)).toMatchObject({ allowed: false, retryAfterMs: 500 })
    at(499)
    expect(consume(0).allowed).toBe(false)
    at(500)
    expect(consume(0).allowed).toBe(true)
    expect(consume(1)).toMatchObject({ allowed: false, retryAfterMs: 100 })
  })
})

describe('sliding-window', () => {
  it('frees a slice a window after the last that fell into it', () => {
    const { at, consume } = underOne('sliding-window', { windowMs: 3_200, limit: 3 })
    for (const ms of [0, 99, 100]) {
      at(ms)
      consume(1)
    }
    expect(consume(1)).toMatchObject({ retryAfterMs: 3_199 })
    expect(consume(3)).toMatchObject({ retryAfterMs: 3_200 })
    at(3_298)
    expect(consume(1).allowed).toBe(false)
    at(3_299)
    expect(consume(2).allowed).toBe(true)
    expect(consume(1)).toMatchObject({ allowed: false, retryAfterMs: 1 })
  })

  it('takes what was settled from the slice in which it was consumed', () => {
    const { at, consume, settle, state } = underOne('sliding-window', { windowMs: 3_200 })
    const first = consume(4).reservation
    at(1_600)
    consume(2)
    settle(first, 1)
    expect(state()).toEqual([7, 3_200])
    at(3_200)
    expect(state()).toEqual([8, 1_600])
  })

  it('is reset when the last that it holds leaves, whatever was given back after it', () => {
    const { at, consume, settle, state } = underOne('sliding-window', { windowMs: 3_200 })
    consume(1)
    at(1_000)
    settle(consume(5).reservation, 0)
    expect(state()).toEqual([9, 2_200])
  })

  it('is exact to the millisecond where a slice is shorter', () => {
    const { at, consume } = underOne('sliding-window', { windowMs: 3, limit: 2 })
    consume(1)
    at(1)
    consume(1)
    at(2)
    expect(consume(1)).toMatchObject({ allowed: false, retryAfterMs: 1 })
    at(3)
    expect(consume(1).allowed).toBe(true)
    expect(consume(1)).toMatchObject({ allowed: false, retryAfterMs: 1 })
  })
})

describe('fixed-window', () => {
  it('begins with the first that is consumed, and not with a look or a denial', () => {
    const { at, consume, state } = underOne('fixed-window')
    state()
    consume(11)
    at(300)
    consume(10)
    expect(state()).toEqual([0, 1_000])
    at(1_299)
    expect(consume(1)).toMatchObject({ allowed: false, retryAfterMs: 1 })
    at(1_300)
    expect(consume(10)).toMatchObject({ allowed: true, quotas: [{ remaining: 0, resetMs: 1_000 }] })
  })

  it('begins with a cost of nothing, too', () => {
    const { at, consume, state } = underOne('fixed-window')
    const { reservation } = consume(0)
    expect(reservation).not.toBe('')
    expect(state()).toEqual([10, 0])
    at(600)
    consume(1)
    expect(state()).toEqual([9, 400])
  })

  it('settles nothing of a window that is over in the one after it', () => {
    const { at, consume, settle, state } = underOne('fixed-window')
    consume(1)
    at(900)
    const { reservation } = consume(5)
    at(1_000)
    consume(5)
    settle(reservation, 0)
    expect(state()).toEqual([5, 1_000])
  })
})

describe('each algorithm', () => {
  for (const algorithm of ['gcra', 'sliding-window', 'fixed-window'] as const) {
    it(`never allows more than there ever is, by ${algorithm}`, () => {
      const { consume, state } = underOne(algorithm)
      expect(consume(11)).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
      expect(state()).toEqual([10, 0])
    })

    it(`settles nothing after its window, by ${algorithm}`, () => {
      const { at, consume, settle, state } = underOne(algorithm)
      const { reservation } = consume(10)
      at(999)
      consume(0)
      at(1_000)
      const before = state()
      settle(reservation, 15)
      expect(state()).toEqual(before)
    })

    it(`goes by whole milliseconds, by ${algorithm}`, () => {
      const { at, consume } = underOne(algorithm)
      at(0.75)
      consume(10)
      const { retryAfterMs } = consume(10)
      at(999.75)
      expect(consume(10).allowed).toBe(false)
      at(1_000)
      expect(retryAfterMs).toBe(1_000)
      expect(consume(10).allowed).toBe(true)
    })
  }
})
