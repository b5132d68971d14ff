import { idleLeaseMs, type Terms } from '@tidegate/contract'
import { holds, matches, same } from '../../assertion'
import { type Group, test } from '../../case'

const MONTH_MS = 30 * 86_400_000

export const idleness: Group = {
  title: 'Idle circuits go, isolated ones stay',
  cases: [
    test('forgets an isolated circuit where it is told to', [], async (bench) => {
      const party = bench.party()
      const { fence } = await bench.isolated(party)
      await bench.store.circuits.forget(bench.name)
      const created = await party.read()
      same(created.state, 'closed', 'the state')
      holds(created.fence > fence, 'the fence is a later one')
    }),
    test('forgets what is not there', [], async (bench) => {
      await bench.store.circuits.forget(bench.name)
      same((await bench.party().read()).state, 'closed', 'the state')
    }),
    test('lets a circuit go once its idle lease ran out', ['leap'], async (bench) => {
      const party = bench.party()
      const { fence } = await bench.opened(party)
      await bench.hook('leap')(MONTH_MS, bench.store)
      const created = await party.read()
      matches(created, { state: 'closed', trips: 0 }, 'the circuit')
      holds(created.fence > fence, 'the fence is a later one')
    }),
    test('keeps a circuit for its idle lease', ['leap'], async (bench) => {
      const party = bench.party()
      const { fence } = await bench.opened(party)
      await bench.hook('leap')(idleLeaseMs(party.terms()) - 1_000, bench.store)
      same((await party.read()).fence, fence, 'the fence')
    }),
    test('keeps a circuit open beyond a long cooldown, to be probed', ['leap'], async (bench) => {
      const party = bench.party()
      const hour = 3_600_000
      const { fence } = await bench.opened(party, { cooldownMs: hour })
      await bench.hook('leap')(hour + 1_000, bench.store)
      const { ok, snapshot } = await party.swap('open', 'half-open', fence)
      holds(ok && snapshot.state === 'half-open', 'the probe lands on the circuit it was meant for')
    }),
    test('renews the idle lease with any touch', ['leap'], async (bench) => {
      const party = bench.party()
      const { fence } = await bench.opened(party)
      const touches = [
        () => party.read(),
        () => party.record(fence, {}),
        () => party.swap('closed', 'open', fence),
      ]
      for (const touch of [...touches, ...touches]) {
        await bench.hook('leap')(0.75 * idleLeaseMs(party.terms()), bench.store)
        await touch()
      }
      matches(await party.read(), { state: 'open', fence }, 'the circuit')
    }),
    test('shortens no idle lease because another one brings shorter terms', ['leap'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const hour = 3_600_000
      const short: Partial<Terms> = { cooldownMs: 1, leaseMs: 1 }
      const { fence } = await bench.opened(a, { cooldownMs: hour })
      await b.read(short)
      await bench.hook('leap')(hour - 1_000, bench.store)
      matches(await b.read(short), { state: 'open', fence }, 'the circuit')
    }),
    test('keeps an isolated circuit for good', ['leap'], async (bench) => {
      const party = bench.party()
      const { fence } = await bench.isolated(party)
      await party.read()
      await bench.hook('leap')(MONTH_MS, bench.store)
      matches(await party.read(), { state: 'isolated', fence }, 'the circuit')
    }),
    test('lets a circuit go again after its isolation ended', ['leap'], async (bench) => {
      const party = bench.party()
      const { fence } = await bench.isolated(party)
      const restored = await party.swap('isolated', 'closed', fence)
      holds(restored.ok, 'the restore')
      await bench.hook('leap')(MONTH_MS, bench.store)
      holds((await party.read()).fence !== restored.snapshot.fence, 'the circuit is another one')
    }),
  ],
}
