import type { WindowCounters } from '@tidegate/contract'
import { holds, matches, same } from '../../assertion'
import { type Group, test } from '../../case'

const NOTHING = { failures: 0, successes: 0, slow: 0, consecutiveFailures: 0, reporters: 0 }

export const evidence: Group = {
  title: 'Evidence belongs to its fence',
  cases: [
    test('counts a tally under the present fence', [], async (bench) => {
      const party = bench.party()
      const { fence } = await party.read()
      const { counted, counters, snapshot } = await party.record(fence, { failures: 3 })
      same(counted, true, 'counted')
      matches(counters, { failures: 3, consecutiveFailures: 3, reporters: 1 }, 'the counters')
      matches(snapshot, { state: 'closed', fence }, 'the snapshot')
    }),
    test('adds up what several instances tell', [], async (bench) => {
      const [a, b, c] = [bench.party(), bench.party(), bench.party()]
      const { fence } = await a.read()
      await a.record(fence, { failures: 3 })
      await b.record(fence, { failures: 4 })
      const { counters } = await c.record(fence, {})
      matches(counters, { failures: 7, consecutiveFailures: 7, reporters: 2 }, 'the counters')
    }),
    test('counts nothing under an old fence', [], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const { fence } = await a.read()
      const reset = await b.swap('closed', 'closed', fence)
      await b.record(reset.snapshot.fence, { failures: 2 })
      const late = await a.record(fence, { failures: 5 })
      same(late.counted, false, 'counted')
      same(late.snapshot.fence, reset.snapshot.fence, 'the present fence')
      matches(late.counters, { failures: 2, reporters: 1 }, 'the counters of the present period')
      same((await b.counters(reset.snapshot.fence)).failures, 2, 'the failures afterwards')
    }),
    test('clears the window with each swap, in the same step', ['advance'], async (bench) => {
      const party = bench.party()
      let { fence } = await party.read()
      const steps = [
        ['closed', 'closed', {}],
        ['closed', 'open', { cooldownMs: bench.tickMs }],
        ['open', 'half-open', {}],
        ['half-open', 'half-open', { yield: true }],
        ['half-open', 'half-open', {}],
        ['half-open', 'open', {}],
        ['open', 'isolated', {}],
        ['isolated', 'closed', {}],
      ] as const
      for (const [from, to, over] of steps) {
        if (from === 'open' && to === 'half-open') await bench.advance(1.5)
        await party.record(fence, { failures: 2, successes: 1, slow: 1, trailingFailures: 1 })
        const { ok, snapshot } = await party.swap(from, to, fence, over)
        holds(ok, `${from} -> ${to}`)
        fence = snapshot.fence
        matches(await party.counters(fence), NOTHING, `the counters after ${from} -> ${to}`)
      }
    }),
    test('keeps what was counted where it refuses a swap', [], async (bench) => {
      const party = bench.party()
      const first = await party.read()
      const { fence } = (await party.swap('closed', 'closed', first.fence)).snapshot
      await party.record(fence, { failures: 3 })
      same((await party.swap('closed', 'open', first.fence)).ok, false, 'the swap under an old fence')
      same((await party.swap('open', 'closed', fence)).ok, false, 'the swap from another state')
      same(
        (await party.swap('closed', 'half-open', fence)).ok,
        false,
        'the swap that the table does not have',
      )
      matches(
        await party.counters(fence),
        { failures: 3, consecutiveFailures: 3, reporters: 1 },
        'the counters',
      )
    }),
    test('shows no counts of one period with the fence of another', [], async (bench) => {
      const parties = Array.from({ length: 6 }, () => bench.party())
      const [first] = parties as [(typeof parties)[0]]
      const { fence } = await first.read()
      const answers = await Promise.all(
        parties.flatMap((party, index) => [
          party.record(fence, { failures: 1 }),
          ...(index === 3 ? [party.swap('closed', 'closed', fence).then(() => undefined)] : []),
          party.record(fence, { failures: 1 }),
        ]),
      )
      for (const answer of answers) {
        if (answer === undefined) continue
        const isOld = answer.snapshot.fence === fence
        same(answer.counted, isOld, 'whether a tally of the first period is counted')
        if (!isOld) same(answer.counters.failures, 0, 'the failures of the second period')
      }
    }),
    test('clears the window when it forgets the circuit', [], async (bench) => {
      const party = bench.party()
      const { fence } = await party.read()
      await party.record(fence, { failures: 3 })
      await bench.store.circuits.forget(bench.name)
      const created = await party.read()
      matches(await party.counters(created.fence), NOTHING, 'the counters')
    }),
    test('keeps two circuits apart', [], async (bench) => {
      const here = bench.party()
      const there = bench.party(`${bench.name}-2`, here.id)
      const [ours, theirs] = [await here.read(), await there.read()]
      await there.record(theirs.fence, { failures: 4 })
      await there.swap('closed', 'open', theirs.fence)
      matches(await here.read(), { state: 'closed', fence: ours.fence }, 'the circuit beside it')
      matches(await here.counters(ours.fence), NOTHING, 'the counters beside it')
      await here.circuits.forget(here.name)
      same((await there.read()).state, 'open', 'the state of the other one')
      await there.circuits.forget(there.name)
    }),
    test('adds up tallies that arrive at once', [], async (bench) => {
      const parties = Array.from({ length: 20 }, () => bench.party())
      const { fence } = await bench.party().read()
      await Promise.all(parties.map((party) => party.record(fence, { failures: 2 })))
      const counters: WindowCounters = await bench.party().counters(fence)
      matches(counters, { failures: 40, consecutiveFailures: 40, reporters: 20 }, 'the counters')
    }),
  ],
}
