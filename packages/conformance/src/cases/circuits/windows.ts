import type { CircuitWindow } from '@tidegate/contract'
import { holds, matches, same } from '../../assertion'
import { type Group, test } from '../../case'

const consecutive: CircuitWindow = { kind: 'consecutive' }

export const windows: Group = {
  title: 'Windows',
  cases: [
    test('counts successes, failures and slow calls of a time window', ['time'], async (bench) => {
      const party = bench.party()
      const window = { kind: 'time', ms: 60_000 } as const
      const { fence } = await party.read({ window })
      await party.record(fence, { successes: 5, failures: 2, slow: 3, trailingFailures: 1 }, { window })
      const { counters } = await party.record(fence, { failures: 2, slow: 1 }, { window })
      const expected = { successes: 5, failures: 4, slow: 4, consecutiveFailures: 3, reporters: 1 }
      matches(counters, expected, 'the counters')
    }),
    test(
      'keeps an outcome for nine tenths of the window, and none for longer than it',
      ['advance', 'time'],
      async (bench) => {
        const party = bench.party()
        // A length that falls on no round moment of the clock.
        const window = { kind: 'time', ms: 10 * bench.tickMs + 7 } as const
        const { fence } = await party.read({ window })
        const { snapshot } = await party.record(fence, { failures: 3 }, { window })
        for (let tick = 0; tick < 24; tick++) {
          await bench.advance(0.5)
          const { counters, snapshot: later } = await party.record(fence, {}, { window })
          const age = later.now - snapshot.now
          if (age < 0.9 * window.ms - 1) same(counters.failures, 3, `the failures at an age of ${age} ms`)
          if (age > window.ms + 1) {
            matches(
              counters,
              { failures: 0, consecutiveFailures: 0, reporters: 0 },
              `the counters at ${age} ms`,
            )
          }
        }
      },
    ),
    test(
      'lets outcomes leave a time window in the order in which they came',
      ['advance', 'time'],
      async (bench) => {
        const [a, b] = [bench.party(), bench.party()]
        const window = bench.timeWindow(10)
        const { fence } = await a.read({ window })
        await a.record(fence, { failures: 3 }, { window })
        await bench.advance(5)
        await b.record(fence, { successes: 1, failures: 2, trailingFailures: 2 }, { window })
        const both = { successes: 1, failures: 5, consecutiveFailures: 2, reporters: 2 }
        matches(await b.counters(fence, { window }), both, 'the counters with both')
        await bench.advance(5.5)
        const later = { successes: 1, failures: 2, consecutiveFailures: 2, reporters: 1 }
        matches(await b.counters(fence, { window }), later, 'the counters with the later one')
      },
    ),
    test(
      'leaves old outcomes out of the answer to a tally that changes nothing',
      ['advance', 'time'],
      async (bench) => {
        const party = bench.party()
        const window = bench.timeWindow(4)
        const { fence, now } = await party.read({ window })
        const tally = party.prepareRecord(fence, { failures: 3 }, { window })
        await tally()
        await bench.advance(4.5)
        const late = await party.record(fence, { failures: 1 }, { window, deadline: now })
        const none = { failures: 0, consecutiveFailures: 0, reporters: 0 }
        matches(late.counters, none, 'the counters that answer a late tally')
        matches((await tally()).counters, none, 'the counters that answer a repeat')
      },
    ),
    test('counts failures since the last success, across instances', ['consecutive'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const { fence } = await a.read({ window: consecutive })
      const run = async (party: typeof a, outcomes: Parameters<typeof a.record>[1]): Promise<number> =>
        (await party.record(fence, outcomes, { window: consecutive })).counters.consecutiveFailures
      same(await run(a, { failures: 2 }), 2, 'after two failures')
      same(await run(b, { failures: 3 }), 5, 'after three more elsewhere')
      same(
        await run(a, { successes: 1, failures: 4, trailingFailures: 1 }),
        1,
        'after a success and a failure',
      )
      same(await run(b, {}), 1, 'after a tally of nothing')
      same(await run(b, { failures: 2 }), 3, 'after two failures elsewhere')
      same(await run(a, { successes: 7 }), 0, 'after successes')
    }),
    test('counts who failed since the last success', ['consecutive'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const { fence } = await a.read({ window: consecutive })
      const reporters = async (party: typeof a, outcomes: Parameters<typeof a.record>[1]): Promise<number> =>
        (await party.record(fence, outcomes, { window: consecutive })).counters.reporters
      same(await reporters(a, { failures: 1 }), 1, 'after a failure')
      same(await reporters(b, { failures: 1 }), 2, 'after one elsewhere')
      same(await reporters(a, { failures: 1 }), 2, 'after the first again')
      same(
        await reporters(b, { successes: 1, failures: 2, trailingFailures: 1 }),
        1,
        'after a success between',
      )
      same(await reporters(a, { successes: 1 }), 0, 'after a success')
    }),
    test('forgets no run of failures because time passes', ['consecutive', 'leap'], async (bench) => {
      const party = bench.party()
      const { fence } = await party.read({ window: consecutive })
      await party.record(fence, { failures: 2 }, { window: consecutive })
      await bench.hook('leap')(90_000, bench.store)
      same((await party.counters(fence, { window: consecutive })).consecutiveFailures, 2, 'the run')
    }),
    test('counts the last calls, and no more of them', ['count'], async (bench) => {
      const party = bench.party()
      const window = { kind: 'count', calls: 20 } as const
      const { fence } = await party.read({ window })
      const after = async (outcomes: Parameters<typeof party.record>[1]): Promise<object> =>
        (await party.record(fence, outcomes, { window })).counters
      matches(await after({ failures: 15, slow: 2 }), { failures: 15, successes: 0, slow: 2 }, 'within it')
      matches(await after({ successes: 15 }), { failures: 5, successes: 15 }, 'beyond it')
      matches(
        await after({ successes: 5 }),
        { failures: 0, successes: 20, slow: 0, reporters: 0 },
        'turned over',
      )
      matches(await after({ failures: 3 }), { failures: 3, successes: 17, consecutiveFailures: 3 }, 'again')
      matches(
        await after({ failures: 90 }),
        { failures: 20, successes: 0, consecutiveFailures: 20 },
        'at once',
      )
    }),
    test('counts from then on where the window changes its size', ['time'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const [before, after] = [{ kind: 'time', ms: 60_000 } as const, { kind: 'time', ms: 30_000 } as const]
      const { fence } = await a.read({ window: before })
      await a.record(fence, { failures: 1 }, { window: before })
      const { counted, counters } = await b.record(fence, { failures: 2 }, { window: after })
      same(counted, true, 'counted')
      holds(counters.failures >= 2, 'the failures since the change are counted')
      same((await b.counters(fence, { window: after })).failures >= 2, true, 'they stay counted')
    }),
    test('counts from then on where the window changes its kind', ['time', 'consecutive'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const { fence } = await a.read({ window: consecutive })
      await a.record(fence, { failures: 1 }, { window: consecutive })
      const window = { kind: 'time', ms: 60_000 } as const
      const { counted, counters } = await b.record(fence, { failures: 2 }, { window })
      same(counted, true, 'counted')
      holds(counters.failures >= 2 && counters.consecutiveFailures >= 2, 'the failures since are counted')
      const { consecutiveFailures } = await b.counters(fence, { window })
      holds(consecutiveFailures >= 2, 'they stay counted')
    }),
  ],
}
