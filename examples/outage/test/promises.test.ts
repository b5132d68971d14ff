import { describe, expect, it } from 'vitest'
import type { Facts } from '../src/facts'
import { judge } from '../src/promises'

const move = (
  at: number,
  instance: string,
  from: string,
  to: string,
  fence: string,
  by: 'here' | 'peer',
) => ({
  at,
  instance,
  from,
  to,
  fence,
  by,
})

/** A round in which all is as it should be. */
const good: Facts = {
  instances: ['A', 'B'],
  outages: [{ from: 100, to: 1_000, weather: 'failing' }],
  moves: [
    move(200, 'A', 'closed', 'open', 'f1', 'here'),
    move(210, 'B', 'closed', 'open', 'f1', 'peer'),
    move(600, 'B', 'open', 'half-open', 'f2', 'here'),
    move(650, 'B', 'half-open', 'open', 'f3', 'here'),
    move(1_100, 'A', 'open', 'half-open', 'f4', 'here'),
    move(1_150, 'A', 'half-open', 'closed', 'f5', 'here'),
  ],
  probes: [
    { at: 600, instance: 'B', fence: 'f2' },
    { at: 1_100, instance: 'A', fence: 'f4' },
  ],
  late: [{ at: 1_300, instance: 'A', fence: 'f0' }],
  answers: ['A', 'B'].map((instance) => ({ instance, status: 503, at: 700, tookMs: 1 })),
  arrivals: [
    { at: 150, weather: 'failing', isProbe: false },
    { at: 600, weather: 'failing', isProbe: true },
  ],
  mostProbes: 1,
  finalStates: ['closed', 'closed'],
}

const broken = (facts: Facts): number[] => judge(facts).flatMap(({ holds }, index) => (holds ? [] : [index]))

describe('the promises of the demo', () => {
  it('hold for a round in which all is as it should be', () => {
    expect(broken(good)).toEqual([])
  })

  it.each<[string, number[], Partial<Facts>]>([
    [
      'two trips in one outage',
      [0],
      { moves: [...good.moves, move(900, 'B', 'closed', 'open', 'f9', 'here')] },
    ],
    ['no trip at all', [0, 2], { moves: [] }],
    [
      'a trip without an outage',
      [0, 5],
      { moves: [...good.moves, move(2_000, 'A', 'closed', 'open', 'f9', 'here')] },
    ],
    ['an instance that never failed fast', [1], { answers: good.answers.slice(1) }],
    ['a request that got through', [2], { arrivals: [{ at: 800, weather: 'failing', isProbe: false }] }],
    ['two probes at once', [3], { mostProbes: 2 }],
    ['two probes under one fence', [4], { probes: good.probes.map((probe) => ({ ...probe, fence: 'f2' })) }],
    ['no late outcome', [5], { late: [] }],
    ['an instance that stayed open', [6], { finalStates: ['closed', 'open'] }],
  ])('show %s', (_, expected, facts) => {
    expect(broken({ ...good, ...facts })).toEqual(expected)
  })
})
