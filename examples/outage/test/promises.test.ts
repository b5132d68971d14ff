import { describe, expect, it } from 'vitest'
import type { Facts, Move } from '../src/facts'
import { exitCode, judge } from '../src/promises'
import { PATIENCE_MS } from '../src/schedule'

type By = 'here' | 'peer'
/** `left` and `fence` are those of the periods before and after it. */
const move = (
  at: number,
  instance: string,
  from: string,
  to: string,
  left: string,
  fence: string,
  by: By,
) => ({
  at,
  instance,
  from,
  to,
  left,
  fence,
  by,
})

/** Two outages, each ended by a probe of one instance, of which the other hears. */
const moves: readonly Move[] = [
  move(1_200, 'A', 'closed', 'open', 'f0', 'f1', 'here'),
  move(1_210, 'B', 'closed', 'open', 'f0', 'f1', 'peer'),
  move(1_600, 'B', 'open', 'half-open', 'f1', 'f2', 'here'),
  move(1_610, 'A', 'open', 'half-open', 'f1', 'f2', 'peer'),
  move(1_650, 'B', 'half-open', 'open', 'f2', 'f3', 'here'),
  move(1_660, 'A', 'half-open', 'open', 'f2', 'f3', 'peer'),
  move(2_100, 'A', 'open', 'half-open', 'f3', 'f4', 'here'),
  move(2_150, 'A', 'half-open', 'closed', 'f4', 'f5', 'here'),
  move(2_160, 'B', 'open', 'closed', 'f3', 'f5', 'peer'),
  move(5_200, 'B', 'closed', 'open', 'f5', 'f6', 'here'),
  move(5_210, 'A', 'closed', 'open', 'f5', 'f6', 'peer'),
  move(6_100, 'B', 'open', 'half-open', 'f6', 'f7', 'here'),
  move(6_150, 'B', 'half-open', 'closed', 'f7', 'f8', 'here'),
  move(6_160, 'A', 'open', 'closed', 'f6', 'f8', 'peer'),
]

const refusal = (instance: string, at: number) => ({ instance, status: 503, at, tookMs: 1 })

/** Whatever it takes on its way, an arrival is judged by when it was sent. */
const arrival = (instance: string, sentAt: number, isProbe: boolean) => ({
  at: sentAt + 400,
  weather: 'failing' as const,
  instance,
  sentAt,
  isProbe,
})

/** A round in which all is as it should be. */
const good: Facts = {
  instances: ['A', 'B'],
  outages: [
    { from: 1_000, to: 2_000, weather: 'failing' },
    { from: 5_000, to: 6_000, weather: 'slow' },
  ],
  stragglerFailedAt: 4_000,
  moves,
  probes: [
    { at: 1_600, instance: 'B', fence: 'f2' },
    { at: 2_100, instance: 'A', fence: 'f4' },
    { at: 6_100, instance: 'B', fence: 'f7' },
  ],
  late: [
    { at: 1_220, instance: 'B', fence: 'f0', outcome: 'failure' },
    { at: 4_001, instance: 'A', fence: 'f0', outcome: 'failure' },
  ],
  answers: [refusal('A', 1_500), refusal('B', 1_500), refusal('A', 5_700), refusal('B', 5_700)],
  arrivals: [
    arrival('A', 1_150, false),
    arrival('B', 1_600, true),
    arrival('A', 2_100, true),
    arrival('A', 2_155, false),
    arrival('B', 2_300, false),
    arrival('A', 5_150, false),
    arrival('B', 6_100, true),
  ],
  mostProbes: 1,
  finalStates: ['closed', 'closed'],
}

const TRIP = 'each outage trips'
const REFUSED = 'in each outage every instance'
const FAST = 'who is refused'
const ALONE = 'an instance that has opened'
const ONE = 'each outage is probed'
const FENCE = 'no fence has two'
const LATE = 'the failure of a call'
const CLOSED = 'after each outage'

const broken = (facts: Facts): string[] =>
  judge(facts).flatMap(({ holds, promise }) => (holds ? [] : [promise]))

const without = (...fences: string[]) => moves.filter(({ fence }) => !fences.includes(fence))
const adding = (...more: Move[]) => [...moves, ...more].toSorted((a, b) => a.at - b.at)

describe('the promises of the demo', () => {
  it('hold for a round in which all is as it should be', () => {
    expect(broken(good)).toEqual([])
    expect(exitCode(judge(good))).toBe(0)
  })

  it.each<[string, string[], Partial<Facts>]>([
    ['no trip at all', [TRIP, ALONE, LATE, CLOSED], { moves: [] }],
    [
      'two trips in one outage',
      [TRIP],
      { moves: adding(move(1_900, 'B', 'closed', 'open', 'f0', 'f1x', 'here')) },
    ],
    [
      'a trip without an outage',
      [TRIP, LATE],
      { moves: adding(move(2_500, 'A', 'closed', 'open', 'f5', 'f5x', 'here')) },
    ],
    [
      'an instance that never opened',
      [ALONE, CLOSED],
      { moves: moves.filter(({ instance, at }) => instance === 'A' || at > 3_000) },
    ],
    ['an instance that was not refused in one of them', [REFUSED], { answers: good.answers.slice(1) }],
    [
      'refusals that took as long as answers',
      [FAST],
      { answers: good.answers.map((answer) => ({ ...answer, tookMs: PATIENCE_MS })) },
    ],
    [
      'a request that got through to a dependency that is down',
      [ALONE],
      { arrivals: [arrival('A', 1_800, false)] },
    ],
    [
      'a request of an instance that had not yet heard of the recovery',
      [ALONE],
      { arrivals: [arrival('B', 2_155, false)] },
    ],
    ['two probes at once', [ONE], { mostProbes: 2 }],
    ['an outage that nobody probed', [ONE], { probes: good.probes.slice(0, 2) }],
    [
      'two probes under one fence',
      [FENCE],
      { probes: good.probes.map((probe) => ({ ...probe, fence: 'f2' })) },
    ],
    [
      'a second verdict, of another instance, on one fence',
      [FENCE],
      { moves: adding(move(1_655, 'A', 'half-open', 'open', 'f2', 'f2x', 'here')) },
    ],
    ['no late failure but those on their way at the trip', [LATE], { late: good.late.slice(0, 1) }],
    [
      'a late failure of the present period',
      [LATE],
      { late: [{ at: 4_001, instance: 'A', fence: 'f5', outcome: 'failure' }] },
    ],
    [
      'a late failure that opened the circuit',
      [TRIP, LATE],
      { moves: adding(move(4_001, 'A', 'closed', 'open', 'f5', 'f5x', 'here')) },
    ],
    ['a circuit that did not close between the outages', [CLOSED, LATE, ALONE], { moves: without('f5') }],
    [
      'an instance that did not hear of the recovery',
      [CLOSED],
      { moves: moves.filter(({ at }) => at !== 6_160) },
    ],
    [
      'a circuit that closed while the dependency was down',
      [CLOSED],
      { moves: adding(move(1_950, 'B', 'half-open', 'closed', 'f2y', 'f3y', 'here')) },
    ],
    ['an instance that is open in the end', [CLOSED], { finalStates: ['closed', 'open'] }],
  ])('show %s', (_, expected, facts) => {
    const round = { ...good, ...facts }
    const seen = broken(round)
    expect(seen).toHaveLength(expected.length)
    for (const promise of expected) expect(seen).toContainEqual(expect.stringContaining(promise))
    expect(exitCode(judge(round))).toBe(1)
  })

  it('are not kept by a run that was stopped before they were judged', () => {
    expect(exitCode(undefined)).toBe(1)
  })
})
