import type { CircuitSnapshot, SwapAnswer, Terms } from '@tidegate/contract'
import { holds, matches, same } from '../../assertion'
import { type Group, test } from '../../case'
import type { Party } from '../../party'

export const deliveries: Group = {
  title: 'Delivery is at least once',
  cases: [
    test('answers a landed trip again, and trips once', ['advance'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const { fence } = await a.read()
      const trip = a.prepareSwap('closed', 'open', fence)
      const first = await trip()
      await bench.advance(1)
      isRepeatOf(await trip(), first)
      matches(await b.read(), periodOf(first.snapshot), 'the circuit')
    }),
    test('answers a landed claim again, and moves no lease', ['advance'], async (bench) => {
      const party = bench.party()
      const { fence } = await bench.cooled(party)
      const claim = party.prepareSwap('open', 'half-open', fence)
      const first = await claim()
      await bench.advance(1)
      isRepeatOf(await claim(), first)
    }),
    test('answers a landed yield again, and counts one success', ['advance'], async (bench) => {
      const party = bench.party()
      const { fence } = await bench.probing(party)
      const giveBack = party.prepareSwap('half-open', 'half-open', fence, { yield: true, succeeded: true })
      const first = await giveBack()
      same(first.snapshot.probeSuccesses, 1, 'probeSuccesses')
      isRepeatOf(await giveBack(), first)
    }),
    test('answers a landed reset again, and keeps what was counted since', [], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const { fence } = await a.read()
      const reset = a.prepareSwap('closed', 'closed', fence)
      const first = await reset()
      await b.record(first.snapshot.fence, { failures: 2 })
      isRepeatOf(await reset(), first)
      same((await b.counters(first.snapshot.fence)).failures, 2, 'the failures counted since')
    }),
    test('answers a landed swap again past its deadline', ['advance'], async (bench) => {
      const party = bench.party()
      const { fence, now } = await party.read()
      const trip = party.prepareSwap('closed', 'open', fence, { deadline: now + 2 * bench.tickMs })
      const first = await trip()
      await bench.advance(3)
      isRepeatOf(await trip(), first)
    }),
    test('refuses a landed swap again once its period is over', ['advance'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const { fence } = await bench.cooled(a)
      const claim = a.prepareSwap('open', 'half-open', fence)
      const first = await claim()
      const free = await a.swap('half-open', 'half-open', first.snapshot.fence, { yield: true })
      isRefused(await claim(), free.snapshot, 'the claim after its permit was yielded')
      const next = await b.swap('half-open', 'half-open', free.snapshot.fence)
      isRefused(await claim(), next.snapshot, 'the claim after another one')
      const closed = await b.swap('half-open', 'closed', next.snapshot.fence)
      isRefused(await claim(), closed.snapshot, 'the claim after the verdict')
    }),
    test('refuses a landed trip again though the circuit is open once more', ['advance'], async (bench) => {
      const party = bench.party()
      const { fence } = await party.read()
      const trip = party.prepareSwap('closed', 'open', fence)
      const first = await trip()
      const closed = await party.swap('open', 'closed', first.snapshot.fence)
      const second = await party.swap('closed', 'open', closed.snapshot.fence)
      isRefused(await trip(), second.snapshot, 'the first trip')
    }),
    test('refuses a swap that lost again', [], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const { fence } = await a.read()
      const trip = b.prepareSwap('closed', 'open', fence)
      const reset = await a.swap('closed', 'closed', fence)
      isRefused(await trip(), reset.snapshot, 'the trip')
      isRefused(await trip(), reset.snapshot, 'the trip again')
    }),
    test('refuses a probe that came too early again, when it no longer does', ['advance'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const opened = await bench.opened(a, { cooldownMs: 2 * bench.tickMs })
      const probe = b.prepareSwap('open', 'half-open', opened.fence)
      isRefused(await probe(), opened, 'the early probe')
      await bench.advance(2.5)
      isRefused(await probe(), opened, 'the early probe, delivered again')
      holds((await b.swap('open', 'half-open', opened.fence)).ok, 'another probe of the same instance')
    }),
    test(
      'refuses a claim of a permit that was out again, when it no longer is',
      ['advance'],
      async (bench) => {
        const [a, b] = [bench.party(), bench.party()]
        const probing = await bench.probing(a, { leaseMs: 2 * bench.tickMs })
        const claim = b.prepareSwap('half-open', 'half-open', probing.fence)
        isRefused(await claim(), probing, 'the claim')
        await bench.advance(2.5)
        isRefused(await claim(), probing, 'the claim, delivered again')
        holds(
          (await b.swap('half-open', 'half-open', probing.fence)).ok,
          'another claim of the same instance',
        )
      },
    ),
    test('does not take the one who came by for the one who won', [], async (bench) => {
      const party = bench.party()
      const { fence } = await party.read()
      const reset = party.prepareSwap('closed', 'closed', fence)
      await bench.store.circuits.forget(bench.name)
      // It finds no circuit and creates one, in the very state it asks for and by its nonce.
      const first = await reset()
      same(first.ok, false, 'the reset')
      isRefused(await reset(), first.snapshot, 'the reset, delivered again')
    }),
    test('counts a tally once', [], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const { fence } = await a.read()
      const tally = a.prepareRecord(fence, { failures: 3 })
      await tally()
      await b.record(fence, { failures: 1 })
      const again = await tally()
      same(again.counted, true, 'counted')
      matches(again.counters, { failures: 4, consecutiveFailures: 4, reporters: 2 }, 'the counters')
    }),
    test('counts a tally once though a later one arrived between', [], async (bench) => {
      const party = bench.party()
      const { fence } = await party.read()
      const tally = party.prepareRecord(fence, { failures: 3 })
      await tally()
      await party.record(fence, { failures: 2 })
      same((await tally()).counters.failures, 5, 'the failures')
    }),
    test('answers a counted tally again past its deadline', ['advance'], async (bench) => {
      const party = bench.party()
      const { fence, now } = await party.read()
      const tally = party.prepareRecord(fence, { failures: 3 }, { deadline: now + 2 * bench.tickMs })
      same((await tally()).counted, true, 'the first delivery')
      await bench.advance(3)
      const again = await tally()
      same(again.counted, true, 'the second delivery')
      same(again.counters.failures, 3, 'the failures')
    }),
    test('counts tallies of one number from two instances', [], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const { fence } = await a.read()
      await a.record(fence, { failures: 1, seq: 7 })
      const { counters } = await b.record(fence, { failures: 1, seq: 7 })
      same(counters.failures, 2, 'the failures')
    }),
    test('refuses a tally again once its period is over', [], async (bench) => {
      const party = bench.party()
      const { fence } = await party.read()
      const tally = party.prepareRecord(fence, { failures: 3 })
      await tally()
      const reset = await party.swap('closed', 'closed', fence)
      const again = await tally()
      same(again.counted, false, 'counted')
      same(again.snapshot.fence, reset.snapshot.fence, 'the present fence')
      same(again.counters.failures, 0, 'the failures')
    }),
    test('does nothing for a swap past its deadline', ['advance'], async (bench) => {
      const party = bench.party()
      const { fence, now, state } = await party.read()
      await bench.advance(1)
      isRefused(
        await party.swap('closed', 'open', fence, { deadline: now }),
        { state, fence },
        'the late swap',
      )
      matches(await party.read(), { state, fence }, 'the circuit')
    }),
    test('counts no tally past its deadline', ['advance'], async (bench) => {
      const party = bench.party()
      const { fence, now } = await party.read()
      await bench.advance(1)
      const { counted, counters } = await party.record(fence, { failures: 3 }, { deadline: now })
      same(counted, false, 'counted')
      matches(counters, { failures: 0, consecutiveFailures: 0, reporters: 0 }, 'the counters')
      same(
        (await party.record(fence, { failures: 1 })).counters.failures,
        1,
        'the failures of the next tally',
      )
    }),
    test('takes a command until its deadline', [], async (bench) => {
      const party = bench.party()
      const { fence, now } = await party.read()
      const deadline: Partial<Terms> = { deadline: now + 60_000 }
      same((await party.record(fence, { failures: 1 }, deadline)).counted, true, 'the tally')
      same((await party.swap('closed', 'open', fence, deadline)).ok, true, 'the swap')
    }),
    test('lands one of many swaps that are each delivered many times at once', [], async (bench) => {
      const parties = Array.from({ length: 5 }, () => bench.party())
      const { fence } = await bench.party().read()
      const trips = parties.map((party) => party.prepareSwap('closed', 'open', fence))
      const answers = await Promise.all(trips.flatMap((trip) => [trip(), trip(), trip()]))
      const winners = new Set(answers.flatMap(({ ok, snapshot }) => (ok ? [snapshot.fence] : [])))
      same(winners.size, 1, 'periods begun')
      same(answers.filter(({ ok }) => ok).length, 3, 'deliveries that landed, all of one swap')
      same((await (parties[0] as Party).read()).trips, 1, 'trips')
    }),
  ],
}

function isRepeatOf(again: SwapAnswer, first: SwapAnswer): void {
  same(first.ok, true, 'the first delivery')
  same(again.ok, true, 'the second delivery')
  matches(again.snapshot, periodOf(first.snapshot), 'the circuit after the second delivery')
  same(again.snapshot.probe?.owner, first.snapshot.probe?.owner, 'the owner after the second delivery')
  same(again.snapshot.probe?.until, first.snapshot.probe?.until, 'the lease after the second delivery')
}

function isRefused(
  answer: SwapAnswer,
  present: Pick<CircuitSnapshot, 'state' | 'fence'>,
  what: string,
): void {
  same(answer.ok, false, what)
  matches(answer.snapshot, { state: present.state, fence: present.fence }, `the circuit after ${what}`)
}

/** Whatever no time changes while a period lasts. */
function periodOf(snapshot: CircuitSnapshot): Readonly<Record<string, string | number | undefined>> {
  const { state, fence, openedAt, probeAfter, trips, probeSuccesses } = snapshot
  return { state, fence, openedAt, probeAfter, trips, probeSuccesses }
}
