import { same } from '../../assertion'
import { type Group, test } from '../../case'

export const fleets: Group = {
  title: 'The fleet is who touched the circuit lately',
  cases: [
    test('counts each instance once, whatever it sent', [], async (bench) => {
      const [a, b, c] = [bench.party(), bench.party(), bench.party()]
      const { fence, fleet } = await a.read()
      same(fleet, 1, 'the fleet after the first read')
      same((await b.record(fence, { successes: 1 })).snapshot.fleet, 2, 'the fleet after a tally')
      same((await c.swap('closed', 'closed', fence)).snapshot.fleet, 3, 'the fleet after a swap')
      same((await a.read()).fleet, 3, 'the fleet after another read')
    }),
    test('keeps counting instances when the period changes', [], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      await a.read()
      await bench.opened(b)
      same((await b.read()).fleet, 2, 'the fleet')
    }),
    test('counts an instance out a minute after its last touch, and not before', ['leap'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      await a.read()
      await b.read()
      await bench.hook('leap')(45_000, bench.store)
      // The first to come is the last to go: the order of coming is not the one that counts.
      same((await a.read()).fleet, 2, 'the fleet after 45 s')
      await bench.hook('leap')(20_000, bench.store)
      same((await a.read()).fleet, 1, 'the fleet after 65 s')
    }),
    test(
      'counts an instance for as long as the window, where that is longer',
      ['leap', 'time'],
      async (bench) => {
        const [a, b] = [bench.party(), bench.party()]
        const window = { kind: 'time', ms: 300_000 } as const
        await a.read({ window })
        await bench.hook('leap')(200_000, bench.store)
        same((await b.read({ window })).fleet, 2, 'the fleet after 200 s')
      },
    ),
  ],
}
