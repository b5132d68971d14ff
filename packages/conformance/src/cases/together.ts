import { same } from '../assertion'
import { type Group, test } from '../case'
import { ALL_PARTS } from '../harness'

export const together: Group = {
  title: 'What a store consists of',
  cases: [
    test('has the parts that the harness says it has, and no others', [], async (bench) => {
      const has = ALL_PARTS.filter((part) => bench.store[part] !== undefined)
      same(has.join(), ALL_PARTS.filter((part) => bench.parts().includes(part)).join(), 'the parts')
    }),
    test('keeps its parts apart under one name', ['limits', 'leases', 'cache'], async (bench) => {
      const { name, store } = bench
      const party = bench.party()
      const quotas = [{ name: 'q', algorithm: 'fixed-window', limit: 10, windowMs: 3_600_000 }] as const
      const { fence } = await bench.opened(party)
      await store.limits?.consume(name, quotas, 3)
      await store.leases?.acquire(name, { owner: bench.unique(), limit: 2, leaseMs: 3_600_000 })
      await store.cache?.set(name, 'kept', { ttlMs: 3_600_000 })
      const remaining = async (): Promise<number | undefined> =>
        (await store.limits?.peek(name, quotas))?.quotas[0]?.remaining
      same((await party.read()).fence, fence, 'the fence of the circuit')
      same(await remaining(), 7, 'what remains of the limit')
      same((await store.cache?.get(name))?.value, 'kept', 'the value')
      await store.cache?.delete(name)
      await store.circuits.forget(name)
      same(await remaining(), 7, 'what remains of the limit, the others being gone')
      await store.limits?.reset(name)
      same(await remaining(), 10, 'what remains of the limit once it was reset')
      const request = { owner: bench.unique(), limit: 2, leaseMs: 3_600_000 }
      same((await store.leases?.acquire(name, request))?.inUse, 2, 'the slots that are taken')
    }),
  ],
}
