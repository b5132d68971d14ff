import { holds, matches, same } from '../../assertion'
import { type Group, test } from '../../case'
import { ALIKE, HOSTILE } from '../../hostile'

export const names: Group = {
  title: 'Names are anything',
  cases: [
    ...Object.entries(HOSTILE).map(([what, name]) =>
      test(`takes a name of ${what}`, [], async (bench) => {
        const party = bench.party(name + bench.name + name)
        const { fence } = await party.read()
        same((await party.record(fence, { failures: 2 })).counters.failures, 2, 'the failures')
        const { ok, snapshot } = await party.swap('closed', 'isolated', fence)
        holds(ok, 'the swap')
        matches(await party.read(), { state: 'isolated', fence: snapshot.fence }, 'the circuit')
        await party.circuits.forget(party.name)
        same((await party.read()).state, 'closed', 'the state once it was forgotten')
        await party.circuits.forget(party.name)
      }),
    ),
    test('takes a name that is nothing but hostile', [], async (bench) => {
      for (const name of Object.values(HOSTILE)) {
        const party = bench.party(name)
        await party.circuits.forget(name)
        const { fence } = await party.read()
        holds((await party.swap('closed', 'open', fence)).ok, 'the swap')
        await party.circuits.forget(name)
      }
    }),
    test('keeps names apart that look alike', [], async (bench) => {
      const parties = ALIKE.map((name) => bench.party(bench.name + name))
      const fences = new Set<string>()
      for (const party of parties) fences.add((await bench.opened(party)).fence)
      same(fences.size, ALIKE.length, 'the fences')
      for (const party of parties) {
        await party.circuits.forget(party.name)
        same((await party.read()).state, 'closed', 'the state of the one forgotten')
      }
      for (const party of parties) await party.circuits.forget(party.name)
    }),
    test('tells an owner and an instance apart by the letter', ['advance'], async (bench) => {
      const ids = ['a|b', 'a', 'a:b\n', '{a}', '日本', '__proto__']
      const [first, ...others] = ids.map((id) => bench.party(bench.name, id)) as [
        ReturnType<typeof bench.party>,
      ]
      let { fence } = await first.read()
      for (const party of [first, ...others])
        fence = (await party.record(fence, { failures: 1 })).snapshot.fence
      const counters = await first.counters(fence)
      matches(counters, { failures: ids.length, reporters: ids.length }, 'the counters')
      same((await first.read()).fleet, ids.length, 'the fleet')
      const probing = await bench.probing(first, { owner: 'a|b:c\n{d}' })
      same(probing.probe?.owner, 'a|b:c\n{d}', 'the owner')
    }),
  ],
}
