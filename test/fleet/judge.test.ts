import { describe, expect, test } from 'vitest'
import type { Visit } from './dependency'
import type { History } from './history'
import type { Period } from './journal'
import { judge } from './judge'
import type { Report, Status, Telling } from './reports'

/*
 * Histories made by hand. The good one is a recovery: the circuit trips at 1000, a's
 * probe at 1300 fails, and b's at 1600 succeeds. Each bad one differs from it in what
 * its name says, and the rule that is meant says so.
 */

const fence = (now: number, author: string): string => `${String(now * 1000).padStart(16, '0')}.${author}-1`

function period(state: Period['state'], now: number, author: string, more: Partial<Period> = {}): Period {
  return { state, fence: fence(now, author), trips: 0, probeSuccesses: 0, fleet: 2, now, ...more }
}

function permit(now: number, owner: string, more: Partial<Period> = {}): Period {
  return period('half-open', now, owner, { probe: { owner, until: now + 250 }, ...more })
}

function visit(instance: string, under: Period, sentAt: number, end: Visit['end'], until?: number): Visit {
  return {
    instance,
    fence: under.fence,
    sentAt,
    at: sentAt + 1,
    ...(end !== undefined && { end }),
    ...(until !== undefined && { until }),
  }
}

function probe(instance: string, under: Period, end: Visit['end']): Visit {
  return visit(instance, under, under.now + 1, end, under.now + 250)
}

const tell = (instance: string, report: Report): Telling => ({ instance, report })

function transition(instance: string, before: Period, after: Period, by: 'here' | 'peer' = 'here'): Telling {
  const counters = { successes: 0, failures: 0, slow: 0, consecutiveFailures: 0, reporters: 0 }
  const counts = { successes: 0, failures: 0, timeouts: 0, left: 0, rejections: {} }
  const { state: from } = before
  const { state: to, now: at } = after
  return tell(instance, { kind: 'transition', at, from, to, fence: after.fence, by, counters, counts })
}

const probing = (instance: string, under: Period): Telling =>
  tell(instance, { kind: 'probe', at: under.now, fence: under.fence, until: under.now + 250 })

const closed = period('closed', 500, '~a')
const open = period('open', 1000, 'a', { probeAfter: 1250 })
const firstPermit = permit(1300, 'a')
const openAgain = period('open', 1310, 'a', { probeAfter: 1560 })
const secondPermit = permit(1600, 'b')
const closedAgain = period('closed', 1610, 'b')

const failures = Array.from({ length: 10 }, (_, count) =>
  visit('a', closed, 900 + count, { at: 905 + count, how: 'failed' }),
)
const failed = probe('a', firstPermit, { at: 1309, how: 'failed' })
const succeeded = probe('b', secondPermit, { at: 1609, how: 'answered' })

const good: History = {
  periods: [closed, open, firstPermit, openAgain, secondPermit, closedAgain],
  visits: [...failures, failed, succeeded],
  tellings: [
    transition('a', closed, open),
    probing('a', firstPermit),
    transition('a', firstPermit, openAgain),
    probing('b', secondPermit),
    transition('b', secondPermit, closedAgain),
    transition('a', secondPermit, closedAgain, 'peer'),
  ],
  finals: new Map(
    ['a', 'b'].map((name) => [
      name,
      {
        state: 'closed',
        fence: closedAgain.fence,
        counts: { successes: 0, failures: 0, timeouts: 0, left: 0, rejections: {} },
      },
    ]),
  ),
  options: { syncMs: 50, storeTimeoutMs: 250, failureRate: 0.5, minimumCalls: 20 },
  deafness: [],
}

function judged(change: Partial<History>): string {
  return judge({ ...good, ...change }).join('\n')
}

test('has nothing to say of a history in which all went well', () => {
  expect(judge(good)).toEqual([])
})

describe('permits', () => {
  test('finds one that was given out while another was live', () => {
    const tooSoon = permit(1540, 'b')
    const periods = [closed, open, firstPermit, tooSoon, { ...closedAgain, now: 1545 }]
    expect(judged({ periods })).toContain('two live permits')
    expect(judged({ periods })).toContain('the permit was live')
  })

  test('has nothing against one that was given out when the one before had run out', () => {
    const afterIt = permit(1550, 'b')
    const periods = [closed, open, firstPermit, afterIt, closedAgain]
    const visits = [
      ...failures,
      probe('a', firstPermit, { at: 2000, how: 'answered' }),
      probe('b', afterIt, { at: 1609, how: 'answered' }),
    ]
    const tellings = [probing('b', afterIt), transition('b', afterIt, closedAgain)]
    expect(judged({ periods, visits, tellings })).toBe('')
  })

  test('finds two probes at the dependency of which the journal knows nothing', () => {
    const visits = [
      ...failures,
      visit('a', { ...firstPermit, fence: fence(1299, 'x') }, 1299, { at: 1400, how: 'failed' }, 1550),
      failed,
      succeeded,
    ]
    expect(judged({ visits })).toContain('two live probes')
  })

  test('finds a second request under one permit', () => {
    expect(judged({ visits: [...good.visits, probe('a', firstPermit, failed.end)] })).toContain(
      'two probes under',
    )
  })

  test('finds a probe under no permit', () => {
    const alone = probe('b', { ...firstPermit, fence: 'local:2' }, failed.end)
    expect(judged({ visits: [...good.visits, alone] })).toContain("nobody's permit")
  })

  test('finds one that was given out before the cooldown was over', () => {
    const periods = [closed, { ...open, probeAfter: 1301 }, ...good.periods.slice(2)]
    expect(judged({ periods })).toContain('the cooldown was not over')
  })
})

describe('verdicts', () => {
  test('finds a fence that came twice', () => {
    const periods = [...good.periods, { ...open, fence: open.fence }]
    expect(judged({ periods })).toContain('came twice')
  })

  test('finds a fence that is less than the one before', () => {
    const periods = [closed, { ...open, fence: fence(400, 'a') }, ...good.periods.slice(2)]
    expect(judged({ periods })).toContain('came after')
  })

  test('finds one that was not the permit holder’s', () => {
    const stolen = { ...closedAgain, fence: fence(1610, 'a') }
    expect(judged({ periods: [...good.periods.slice(0, -1), stolen] })).toContain("which was b's")
  })

  test('finds one that landed when its lease had run out', () => {
    const late = { ...closedAgain, now: 1851 }
    expect(judged({ periods: [...good.periods.slice(0, -1), late] })).toContain('late verdict')
  })

  test('finds two that claim one permit', () => {
    const other = transition('b', secondPermit, period('open', 1611, 'b'))
    expect(judged({ tellings: [...good.tellings, other] })).toContain('two verdicts under')
  })

  test('finds two instances that claim one swap', () => {
    const other = transition('a', secondPermit, closedAgain)
    expect(judged({ tellings: [...good.tellings, other] })).toContain('both say that they began')
  })

  test('takes coming back to a period of its own for no claim', () => {
    const away = { ...closedAgain, state: 'open', fence: 'local:1' } as const
    const left = transition('b', closedAgain, away)
    const back = transition('b', away, closedAgain)
    expect(judged({ tellings: [...good.tellings, left, back] })).toBe('')
  })

  test('finds a claim of which the journal knows nothing', () => {
    const other = transition('b', closed, period('open', 1700, 'b'))
    expect(judged({ tellings: [...good.tellings, other] })).toContain('the journal says undefined')
  })

  test('finds one where no permit was out', () => {
    const free = period('half-open', 1605, 'b')
    const periods = [...good.periods.slice(0, -1), free, closedAgain]
    expect(judged({ periods })).toContain('no permit to decide under')
  })

  test('finds a success of a probe that the dependency had not answered', () => {
    const visits = [...failures, failed, probe('b', secondPermit, { at: 1700, how: 'answered' })]
    expect(judged({ visits })).toContain('counts a success')
  })

  test('finds a success that was counted where a permit was given back', () => {
    const back = period('half-open', 1605, 'b', { probeSuccesses: 1 })
    const periods = [...good.periods.slice(0, -1), back]
    expect(judged({ periods, visits: [...failures, failed] })).toContain('counts a success')
  })
})

describe('traffic', () => {
  const stray = visit('b', closed, 1200, { at: 1201, how: 'failed' })

  test('finds a trip without failures in the period that it ends', () => {
    expect(judged({ visits: good.visits.slice(1) })).toContain('opened on 9 failures')
  })

  test('finds a call that was let through while the circuit was open', () => {
    expect(judged({ visits: [...good.visits, stray] })).toContain('200 ms after the trip')
  })

  test('has nothing against one of an instance that had no time to hear of the trip', () => {
    const soon = { ...stray, sentAt: 1140 }
    const stall = tell('b', { kind: 'stall', at: 1195, from: 1120 })
    expect(judged({ visits: [...good.visits, soon] })).toBe('')
    expect(judged({ visits: [...good.visits, stray], tellings: [...good.tellings, stall] })).toBe('')
  })

  test('has nothing against one of an instance that could not hear of it', () => {
    const down = tell('b', { kind: 'storeDown', at: 1400, error: 'silence' })
    const deafness = [{ instance: 'b', from: 1000, until: 1300 }]
    expect(judged({ visits: [...good.visits, stray], tellings: [...good.tellings, down] })).toBe('')
    expect(judged({ visits: [...good.visits, stray], deafness })).toBe('')
  })
})

describe('the end', () => {
  test('finds an instance that sees another circuit', () => {
    const status = good.finals.get('a') as Status
    const finals = new Map([...good.finals, ['b', { ...status, fence: open.fence }] as const])
    expect(judged({ finals })).toContain('b ends with closed')
  })

  test('finds a call that came to what no call may come to', () => {
    const odd = tell('a', { kind: 'unexpected', at: 1700, error: 'TypeError: x' })
    expect(judged({ tellings: [...good.tellings, odd] })).toContain('a: TypeError: x')
  })
})
