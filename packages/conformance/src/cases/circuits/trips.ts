import { holds, same } from '../../assertion'
import { type Group, test } from '../../case'

export const trips: Group = {
  title: 'Trips are open periods in a row',
  cases: [
    test('counts the first trip as one', [], async (bench) => {
      same((await bench.opened(bench.party())).trips, 1, 'trips')
    }),
    test('counts a trip more when a probe fails', ['advance'], async (bench) => {
      const party = bench.party()
      const probing = await bench.probing(party)
      same(probing.trips, 1, 'trips while half-open')
      const { snapshot } = await party.swap('half-open', 'open', probing.fence)
      same(snapshot.trips, 2, 'trips after the failed probe')
    }),
    test('counts on when it opens again soon after it closed', ['advance'], async (bench) => {
      const party = bench.party()
      const { fence } = await bench.probing(party)
      const closed = await party.swap('half-open', 'closed', fence)
      same(closed.snapshot.trips, 1, 'trips just after closing')
      const opened = await party.swap('closed', 'open', closed.snapshot.fence)
      same(opened.snapshot.trips, 2, 'trips after opening again')
    }),
    test('starts over once it stayed closed for a window', ['advance', 'time'], async (bench) => {
      const party = bench.party()
      const window = bench.timeWindow(4)
      const { fence } = await bench.opened(party)
      const closed = await party.swap('open', 'closed', fence, { window })
      same(closed.snapshot.trips, 1, 'trips just after closing')
      await bench.advance(4.5)
      same((await party.read({ window })).trips, 0, 'trips a window later')
      const again = await party.swap('closed', 'open', closed.snapshot.fence, { window })
      holds(again.ok, 'the circuit opens again')
      same(again.snapshot.trips, 1, 'trips after opening again')
    }),
    test('keeps the trips of an open circuit however long', ['leap'], async (bench) => {
      const party = bench.party()
      await bench.opened(party)
      // Within the idle lease, beyond the window.
      await bench.hook('leap')(90_000, bench.store)
      same((await party.read()).trips, 1, 'trips')
    }),
  ],
}
