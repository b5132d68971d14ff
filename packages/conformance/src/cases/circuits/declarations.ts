import { holds, same } from '../../assertion'
import { type Group, test } from '../../case'

export const declarations: Group = {
  title: 'What a store says of itself',
  cases: [
    test('declares what the harness says it declares', [], async (bench) => {
      const { supports } = bench.store
      same([...supports.windows].sort().join(), [...bench.supports().windows].sort().join(), 'windows')
      same(supports.push, bench.supports().push, 'push')
      same(supports.shared, bench.supports().shared, 'shared')
    }),
    test('declares no count window where it is shared', [], async (bench) => {
      const { shared, windows } = bench.store.supports
      holds(!(shared && windows.includes('count')), 'the last N calls mean nothing across instances')
    }),
    test('offers subscribe where it declares push', ['push'], async (bench) => {
      same(typeof bench.store.circuits.subscribe, 'function', 'subscribe')
    }),
    test('is ready, or does not say', [], async (bench) => {
      await bench.store.ping()
      holds(bench.store.ready?.() !== false, 'a store that answered a ping is ready')
    }),
    test('sees what another process did', ['peer'], async (bench) => {
      const [here, there] = [bench.party(), bench.party()]
      const opened = await bench.opened(here)
      same((await there.read()).fence, opened.fence, 'the fence there')
    }),
  ],
}
