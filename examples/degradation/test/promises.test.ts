import { describe, expect, it } from 'vitest'
import type { Facts, Visit, Weather } from '../src/facts'
import { exitCode, judge } from '../src/promises'
import { DEGRADATIONS, type Degradation, type Worth } from '../src/visitor'

const visitsOf = (weather: Weather, worth: Worth): Visit[] =>
  DEGRADATIONS.map((degradation) => ({ weather, degradation, worth }))

/** A round in which all is as it should be. */
const good: Facts = {
  visits: [
    ...visitsOf('up', 'whole'),
    { weather: 'down', degradation: 'cached', worth: 'failed' },
    ...visitsOf('down', 'degraded'),
    ...visitsOf('up again', 'degraded'),
    ...visitsOf('up again', 'whole'),
  ],
  reachedWhileDown: 4,
  probesWhileDown: 1,
}

/** The good round, with what one route came to while the dependency was down. */
const down = (degradation: Degradation, worth: Worth): Partial<Facts> => ({
  visits: good.visits.map((visit) =>
    visit.weather === 'down' && visit.degradation === degradation ? { ...visit, worth } : visit,
  ),
})

const broken = (facts: Facts): string[] =>
  judge(facts).flatMap(({ holds, promise }) => (holds ? [] : [promise]))

describe('the promises of the example', () => {
  it('hold for a round in which all is as it should be', () => {
    expect(broken(good)).toEqual([])
    expect(exitCode(judge(good))).toBe(0)
  })

  it.each<[string, string, Partial<Facts>]>([
    ['a price that was not cached', 'last good one', down('cached', 'failed')],
    ['a page that failed with its reviews', 'without its reviews', down('feature off', 'failed')],
    ['a delivery without a default', 'usual one', down('default', 'failed')],
    ['an answer that cannot be whole', 'usual one', down('default', 'whole')],
    [
      'an answer that was not whole while it was up',
      'every answer is whole',
      { visits: [...good.visits, { weather: 'up', degradation: 'cached', worth: 'failed' }] },
    ],
    ['a dependency that is not left alone', 'left alone', { reachedWhileDown: 5 }],
    [
      'a circuit that does not close again',
      'back',
      { visits: [...good.visits, ...visitsOf('up again', 'degraded')] },
    ],
  ])('show %s', (_, promise, facts) => {
    const round = { ...good, ...facts }
    expect(broken(round)).toEqual([expect.stringContaining(promise)])
    expect(exitCode(judge(round))).toBe(1)
  })

  it('are not kept by a round in which nobody asked', () => {
    expect(broken({ visits: [], reachedWhileDown: 0, probesWhileDown: 0 })).toHaveLength(5)
  })
})
