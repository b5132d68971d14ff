import { holds, matches, same, sameMoment } from '../../assertion'
import { type Group, test } from '../../case'

export const time: Group = {
  title: 'Time is the store’s',
  cases: [
    test('tells its time with each answer', ['advance'], async (bench) => {
      const party = bench.party()
      const before = await party.read()
      await bench.advance(1)
      const after = await party.read()
      holds(after.now - before.now >= bench.tickMs - 1, 'a tick later it is a tick later')
    }),
    test('starts the cooldown now, for everybody', [], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const before = await a.read()
      const { snapshot } = await a.swap('closed', 'open', before.fence, { cooldownMs: 12_345 })
      sameMoment(snapshot.openedAt, snapshot.now, 'openedAt')
      sameMoment(snapshot.probeAfter, snapshot.now + 12_345, 'probeAfter')
      const seen = await b.read({ cooldownMs: 1 })
      matches(
        seen,
        { openedAt: snapshot.openedAt, probeAfter: snapshot.probeAfter },
        'what another one reads',
      )
    }),
    test('keeps openedAt and probeAfter while half-open', ['advance'], async (bench) => {
      const party = bench.party()
      const opened = await bench.cooled(party)
      const { snapshot } = await party.swap('open', 'half-open', opened.fence)
      matches(snapshot, { openedAt: opened.openedAt, probeAfter: opened.probeAfter }, 'half-open')
    }),
    test('has neither openedAt nor probeAfter where it is closed or isolated', ['advance'], async (bench) => {
      const party = bench.party()
      const { fence } = await bench.probing(party)
      const none = { openedAt: undefined, probeAfter: undefined, probe: undefined, probeSuccesses: 0 }
      const closed = await party.swap('half-open', 'closed', fence)
      matches(closed.snapshot, { state: 'closed', ...none }, 'closed')
      const opened = await bench.opened(party)
      const isolated = await party.swap('open', 'isolated', opened.fence)
      matches(isolated.snapshot, { state: 'isolated', ...none }, 'isolated')
    }),
    test('counts on while its clock is set back', ['stepClock'], async (bench) => {
      const party = bench.party()
      const { fence } = await party.read()
      await party.record(fence, { failures: 1 })
      await bench.hook('stepClock')(-3_600_000, bench.store)
      const { counted, counters } = await party.record(fence, { failures: 2 })
      same(counted, true, 'counted')
      holds(
        counters.failures >= 2 && counters.consecutiveFailures >= 2,
        'what was just counted is in the window',
      )
    }),
    test('lends the permit until now and the lease', ['advance'], async (bench) => {
      const party = bench.party()
      const { probe, now } = await bench.probing(party, { leaseMs: 4_321 })
      sameMoment(probe?.until, now + 4_321, 'until')
    }),
  ],
}
