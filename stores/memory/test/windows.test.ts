import type { CircuitWindow, Tally, WindowCounters } from '@tidegate/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../src'
import { circuitsOf, tally, terms } from './support/caller'
import { handClock } from './support/clock'
import { heapInUse } from './support/heap'

interface Event {
  readonly waitMs: number
  readonly instance: string
  readonly tally: Tally
}

const tallies = fc
  .record({ leading: fc.nat(4), successes: fc.nat(4), trailing: fc.nat(4), slow: fc.nat(12) })
  .map(({ leading, successes, trailing, slow }) => {
    const failures = leading + trailing
    const trailingFailures = successes === 0 ? failures : trailing
    return tally(0, { successes, failures, slow: Math.min(slow, successes + failures), trailingFailures })
  })
const events = (longestMs: number): fc.Arbitrary<Event[]> =>
  fc.array(
    fc.record({
      waitMs: fc.double({ min: 0, max: longestMs, noNaN: true }),
      instance: fc.constantFrom('one', 'two', 'three'),
      tally: tallies,
    }),
    { maxLength: 40 },
  )

/** What a store counts after these events, and when each of them was, by its own clock. */
function play(
  window: CircuitWindow,
  all: readonly Event[],
  waitMs = 0,
): { counters: WindowCounters; ages: number[] } {
  const clock = handClock()
  const circuits = circuitsOf(memoryStore({ clock }))
  const { fence } = circuits.readState('a', terms({ window }))
  const moments = all.map(({ waitMs, instance, tally: one }, index) => {
    clock.advance(waitMs)
    return circuits.record('a', fence, { ...one, seq: index + 1 }, terms({ window, instance })).snapshot.now
  })
  clock.advance(waitMs)
  const { counters, snapshot } = circuits.record('a', fence, tally(1), terms({ window, instance: 'asking' }))
  return { counters, ages: moments.map((moment) => snapshot.now - moment) }
}

interface Outcome {
  readonly failed: boolean
  readonly instance: string
}

/** One by one, in the order that a tally tells of. */
function outcomesOf(all: readonly Event[]): Outcome[] {
  return all.flatMap(({ instance, tally: { successes, failures, trailingFailures } }) =>
    [
      ...'f'.repeat(failures - trailingFailures),
      ...'s'.repeat(successes),
      ...'f'.repeat(trailingFailures),
    ].map((kind) => ({ failed: kind === 'f', instance })),
  )
}

function count(outcomes: readonly Outcome[]): Omit<WindowCounters, 'slow'> {
  const failures = outcomes.filter(({ failed }) => failed)
  return {
    successes: outcomes.length - failures.length,
    failures: failures.length,
    consecutiveFailures: outcomes.length - 1 - outcomes.findLastIndex(({ failed }) => !failed),
    reporters: new Set(failures.map(({ instance }) => instance)).size,
  }
}

describe('a window', () => {
  it('of time holds everything up to nine tenths of it, and nothing older than it', () => {
    const lengths = fc.constantFrom(1, 3, 10, 25, 999, 1_000, 60_000)
    fc.assert(
      fc.property(
        lengths.chain((ms) =>
          fc.tuple(fc.constant(ms), events(ms / 2), fc.double({ min: 0, max: 1.2 * ms, noNaN: true })),
        ),
        ([ms, all, waitMs]) => {
          const { counters, ages } = play({ kind: 'time', ms }, all, waitMs)
          const within = (age: number): Omit<WindowCounters, 'slow'> =>
            count(outcomesOf(all.filter((_, index) => (ages[index] ?? 0) <= age)))
          // Buckets narrower than a millisecond there are none: a window of 3 ms is exact to one.
          const [least, most] = [within(ms - Math.max(1, ms / 10) - 0.01), within(ms)]
          for (const field of ['successes', 'failures', 'consecutiveFailures', 'reporters'] as const) {
            expect(counters[field]).toBeGreaterThanOrEqual(least[field])
            expect(counters[field]).toBeLessThanOrEqual(most[field])
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('of time does not grow with the tallies in it', () => {
    const circuits = circuitsOf(memoryStore())
    const { fence } = circuits.readState('a', terms())
    const same = terms()
    const start = performance.now()
    for (let seq = 1; seq <= 50_000; seq++) circuits.record('a', fence, tally(seq, { failures: 1 }), same)
    expect(performance.now() - start).toBeLessThan(5_000)
  })

  it('of calls holds the last of them', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), events(1), (calls, all) => {
        const { counters } = play({ kind: 'count', calls }, all)
        expect(counters).toMatchObject(count(outcomesOf(all).slice(-calls)))
        expect(counters.slow).toBeLessThanOrEqual(Math.min(calls, counters.successes + counters.failures))
      }),
      { numRuns: 500 },
    )
  })

  it('of consecutive failures holds those since the last success', () => {
    fc.assert(
      fc.property(events(1), (all) => {
        const { counters } = play({ kind: 'consecutive' }, all)
        const outcomes = outcomesOf(all)
        const run = outcomes.slice(outcomes.findLastIndex(({ failed }) => !failed) + 1)
        const { consecutiveFailures, reporters } = count(run)
        expect(counters).toMatchObject({ consecutiveFailures, reporters })
      }),
      { numRuns: 500 },
    )
  })

  it('of calls takes a tally of more than it holds', () => {
    const one = {
      waitMs: 0,
      instance: 'one',
      tally: tally(0, { successes: 2 ** 50, failures: 3, trailingFailures: 2 }),
    }
    const { counters } = play({ kind: 'count', calls: 10 }, [one])
    expect(counters).toMatchObject({ successes: 8, failures: 2, consecutiveFailures: 2, reporters: 1 })
  })
})

describe('while a deploy changes the window', () => {
  const before = { kind: 'time', ms: 60_000 } as const
  const after = { kind: 'count', calls: 100 } as const

  it('each instance is answered in its own, and sees what the others tell', () => {
    const circuits = circuitsOf(memoryStore())
    const { fence } = circuits.readState('a', terms())
    const record = (window: CircuitWindow, instance: string, seq: number): number =>
      circuits.record('a', fence, tally(seq, { failures: 1 }), terms({ window, instance })).counters.failures
    expect(record(before, 'old', 1)).toBe(1)
    // The new window begins empty.
    expect(record(after, 'new', 1)).toBe(1)
    expect(record(before, 'old', 2)).toBe(3)
    expect(record(after, 'new', 2)).toBe(3)
    expect(record(before, 'old', 3)).toBe(5)
  })

  it('a ring of another size is another window', () => {
    const circuits = circuitsOf(memoryStore())
    const { fence } = circuits.readState('a', terms())
    const failures = (calls: number, seq: number): number => {
      const window = { kind: 'count', calls } as const
      return circuits.record('a', fence, tally(seq, { failures: 9 }), terms({ window })).counters.failures
    }
    expect([failures(5, 1), failures(20, 2), failures(5, 3), failures(20, 4)]).toEqual([5, 9, 5, 20])
  })

  it('a repeated tally changes none of them', () => {
    const circuits = circuitsOf(memoryStore())
    const { fence } = circuits.readState('a', terms())
    const record = (window: CircuitWindow): number =>
      circuits.record('a', fence, tally(1, { failures: 1 }), terms({ window })).counters.failures
    expect(record(before)).toBe(1)
    expect(record(after)).toBe(0)
    expect(record(before)).toBe(1)
  })

  it('a window that nobody asks for any more does not grow', () => {
    const clock = handClock()
    const collect = heapInUse()
    const circuits = circuitsOf(memoryStore({ clock }))
    const { fence } = circuits.readState('a', terms())
    const record = (window: CircuitWindow, seq: number): number =>
      circuits.record('a', fence, tally(seq, { failures: 1 }), terms({ window })).counters.failures
    record({ kind: 'time', ms: 10 }, 1)
    record(after, 2)
    const heapBefore = collect()
    for (let seq = 3; seq <= 20_000; seq++) {
      clock.advance(1)
      record(after, seq)
    }
    // Each moment's bucket, kept, would come to some 640 KB.
    expect(collect() - heapBefore).toBeLessThan(300_000)
    expect(record(after, 20_001)).toBe(100)
  })

  it('keeps no more than a few windows, whatever it is asked for', () => {
    const circuits = circuitsOf(memoryStore())
    const { fence } = circuits.readState('a', terms())
    const record = (ms: number, seq: number): number =>
      circuits.record('a', fence, tally(seq, { failures: 1 }), terms({ window: { kind: 'time', ms } }))
        .counters.failures
    for (let ms = 1_000; ms < 1_005; ms++) expect(record(ms, ms)).toBe(1)
    // The first made room for the fifth.
    expect(record(1_000, 2_000)).toBe(1)
  })
})
