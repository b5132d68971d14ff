import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { admission, cooldownMsFor, isTripNear, isTripped, verdict } from '../src/circuit/machine'
import { nextTurn } from '../src/circuit/spread'

const base = { fence: '0000000000000001.a', trips: 0, probeSuccesses: 0, fleet: 1, now: 0 }

describe('the machine', () => {
  it.each([
    [{ state: 'closed' }, { go: 'pass' }],
    [
      { state: 'open', openedAt: 0, probeAfter: 101 },
      { go: 'reject', retryAfterMs: 1 },
    ],
    [{ state: 'open', openedAt: 0, probeAfter: 100 }, { go: 'claim' }],
    [
      { state: 'half-open', probe: { owner: 'a', until: 101 } },
      { go: 'reject', retryAfterMs: undefined },
    ],
    [{ state: 'half-open', probe: { owner: 'a', until: 100 } }, { go: 'claim' }],
    [{ state: 'half-open' }, { go: 'claim' }],
    [{ state: 'isolated' }, { go: 'reject', retryAfterMs: undefined }],
  ] as const)('at 100, %j: %j', (snapshot, expected) => {
    expect(admission({ ...base, ...snapshot }, 100)).toEqual(expected)
  })

  it.each([
    ['failure', 0, 1, 0, { to: 'open' }],
    ['failure', 4, 5, 0, { to: 'open' }],
    ['success', 0, 1, 3, { to: 'closed' }],
    ['success', 0, 2, 3, { to: 'half-open', yield: true, succeeded: true }],
    ['success', 1, 2, 0, { to: 'closed' }],
    ['none', 1, 2, 0, { to: 'half-open', yield: true }],
    ['none', 1, 2, 2, { to: 'half-open', yield: true }],
    ['none', 1, 2, 3, { to: 'open' }],
  ] as const)(
    'a probe that came to %s after %i successes of %i, and %i probes without evidence: %j',
    (outcome, probeSuccesses, threshold, withoutEvidence, expected) => {
      expect(verdict(outcome, { probeSuccesses, withoutEvidence }, threshold)).toEqual(expected)
    },
  )

  it.each([
    [{ kind: 'consecutive', failures: 3 }, { consecutiveFailures: 2 }, false],
    [{ kind: 'consecutive', failures: 3 }, { consecutiveFailures: 3 }, true],
    [{ kind: 'rate', failureRate: 0.5, slowRate: undefined, minimumCalls: 4 }, { failures: 3 }, false],
    [
      { kind: 'rate', failureRate: 0.5, slowRate: undefined, minimumCalls: 4 },
      { failures: 2, successes: 2 },
      true,
    ],
    [
      { kind: 'rate', failureRate: 0.5, slowRate: undefined, minimumCalls: 4 },
      { failures: 2, successes: 3 },
      false,
    ],
    // 0.55 * 100 is 55.00000000000001.
    [
      { kind: 'rate', failureRate: 0.55, slowRate: undefined, minimumCalls: 4 },
      { failures: 55, successes: 45 },
      true,
    ],
    [{ kind: 'rate', failureRate: 1, slowRate: 0.55, minimumCalls: 4 }, { successes: 100, slow: 55 }, true],
    [{ kind: 'rate', failureRate: 1, slowRate: 0.5, minimumCalls: 4 }, { successes: 4, slow: 2 }, true],
    [
      { kind: 'rate', failureRate: 1, slowRate: undefined, minimumCalls: 4 },
      { successes: 4, slow: 4 },
      false,
    ],
  ] as const)('%j of %j: %s', (rule, counters, expected) => {
    const none = { successes: 0, failures: 0, slow: 0, consecutiveFailures: 0, reporters: 0 }
    expect(isTripped({ ...none, ...counters }, rule)).toBe(expected)
  })

  it.each([
    ['nothing bad', { successes: 8, failures: 2 }, { successes: 80, failures: 10 }, 8, false],
    [
      'bad by itself, however good it was before',
      { successes: 1, failures: 1 },
      { successes: 900, failures: 0 },
      1,
      true,
    ],
    ['enough, if everybody saw it', { successes: 6, failures: 4 }, { successes: 0, failures: 90 }, 8, true],
    [
      'not enough, though everybody saw it',
      { successes: 6, failures: 4 },
      { successes: 90, failures: 60 },
      8,
      false,
    ],
  ] as const)('a trip is near where what is untold is %s', (_, untold, counters, fleet, expected) => {
    const none = { slow: 0, trailingFailures: 0 }
    const rule = { kind: 'rate', failureRate: 0.5, slowRate: undefined, minimumCalls: 20 } as const
    const known = { slow: 0, consecutiveFailures: 0, reporters: 1, ...counters }
    expect(isTripNear(known, { ...none, ...untold }, fleet, rule)).toBe(expected)
  })

  it('trips at its rate to the call, whatever the rate and however many calls', () => {
    const none = { successes: 0, failures: 0, slow: 0, consecutiveFailures: 0, reporters: 0 }
    for (let percent = 1; percent <= 100; percent++) {
      const rule = { kind: 'rate', failureRate: percent / 100, slowRate: undefined, minimumCalls: 1 } as const
      for (const calls of [100, 300, 700, 123_400]) {
        const failures = (percent * calls) / 100
        expect(isTripped({ ...none, failures, successes: calls - failures }, rule), `${percent} %`).toBe(true)
        const fewer = { ...none, failures: failures - 1, successes: calls - failures + 1 }
        expect(isTripped(fewer, rule), `${percent} %`).toBe(false)
      }
    }
  })

  it('a trip on failures in a row is near where they would be enough, if everybody saw them', () => {
    const rule = { kind: 'consecutive', failures: 5 } as const
    const known = { successes: 9, failures: 1, slow: 0, consecutiveFailures: 1, reporters: 1 }
    const untold = { successes: 0, failures: 1, slow: 0, trailingFailures: 1 }
    expect(isTripNear(known, untold, 3, rule)).toBe(false)
    expect(isTripNear(known, untold, 4, rule)).toBe(true)
  })

  it('cools down in whole ms, never shorter than asked, never longer than the bound and its jitter', () => {
    const rule = { cooldownMs: 1_000, jitter: 0.2, backoff: { factor: 3, maxMs: 10_000 } }
    fc.assert(
      fc.property(fc.nat(2_000), fc.double({ min: 0, max: 0.999, noNaN: true }), (trips, random) => {
        const ms = cooldownMsFor(rule, trips, random)
        return Number.isInteger(ms) && ms >= 1_000 && ms <= 12_000
      }),
    )
  })

  it('spreads turns: one in each span of fleet x cooldown, never sooner than a cooldown', () => {
    const args = [
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.double({ min: 0, max: 0.999, noNaN: true })),
    ] as const
    fc.assert(
      fc.property(...args, (fleet, draws) => {
        let now = 0
        let turn = { probeAt: 0, spanEndsAt: 0 }
        return draws.every((random) => {
          const before = now
          turn = nextTurn(now, Math.max(turn.spanEndsAt, now), fleet, 1_000, random)
          now = turn.probeAt
          return now >= before + 1_000 && now <= Math.max(before + 1_000, turn.spanEndsAt)
        })
      }),
    )
  })
})
