import { holds, matches, same } from '../../assertion'
import { type Group, test } from '../../case'
import { LeasedName } from '../../leased-name'

export const deliveries: Group = {
  title: 'A slot is lent once, however often it is asked for',
  cases: [
    test('answers an acquisition again as it did first', [], async (bench) => {
      const name = new LeasedName(bench)
      const held = await name.take()
      for (let again = 0; again < 3; again++) {
        const { owner, fence } = held
        matches(await name.take({ owner }), { fence, inUse: 1, retryAfterMs: 0 }, 'the answer')
      }
      await name.take()
      await name.overask()
      same((await name.take({ owner: held.owner })).fence, held.fence, 'the fence where none is free')
      same((await name.take({ owner: held.owner, limit: 1 })).fence, held.fence, 'the fence of a lower limit')
    }),
    test('shortens no lease by a delivery', ['advance'], async (bench) => {
      const name = new LeasedName(bench)
      const held = await name.take({ limit: 1 })
      await name.take({ limit: 1, owner: held.owner, leaseMs: bench.tickMs })
      await bench.advance(1.5)
      await name.overask({ limit: 1 })
      same(await name.renew(held), true, 'the slot is still held')
    }),
    test('lengthens a lease by a delivery that asks for more', ['advance'], async (bench) => {
      const name = new LeasedName(bench)
      const held = await name.take({ limit: 1, leaseMs: 2 * bench.tickMs })
      await name.take({ limit: 1, owner: held.owner })
      await bench.advance(2.5)
      same(await name.renew(held), true, 'the slot is still held')
    }),
    test('lends another slot to an owner whose lease ran out', ['advance'], async (bench) => {
      const name = new LeasedName(bench)
      const held = await name.take({ limit: 1, leaseMs: bench.tickMs })
      await bench.advance(1.5)
      const { fence } = await name.take({ limit: 1, owner: held.owner })
      holds(fence > held.fence, 'the fence is a later one')
      same(await name.renew(held), false, 'the renewal under the fence before')
    }),
    test(
      'lends nothing to an owner whose lease ran out and whose slot is another’s',
      ['advance'],
      async (bench) => {
        const name = new LeasedName(bench)
        const { owner } = await name.take({ limit: 1, leaseMs: bench.tickMs })
        await bench.advance(1.5)
        await name.take({ limit: 1 })
        await name.overask({ limit: 1, owner })
      },
    ),
    test('lends another slot to an owner that released its own', [], async (bench) => {
      const name = new LeasedName(bench)
      const held = await name.take({ limit: 1 })
      await name.release(held)
      const { fence, inUse } = await name.take({ limit: 1, owner: held.owner })
      holds(fence > held.fence, 'the fence is a later one')
      same(inUse, 1, 'inUse')
    }),
  ],
}
