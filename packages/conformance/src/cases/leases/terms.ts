import { atMost, holds, same } from '../../assertion'
import { type Group, test } from '../../case'
import { LeasedName } from '../../leased-name'

const HOUR_MS = 3_600_000

export const terms: Group = {
  title: 'A slot is held as long as its lease',
  cases: [
    test('frees a slot when its lease runs out', ['advance'], async (bench) => {
      const name = new LeasedName(bench)
      await name.take({ leaseMs: 2 * bench.tickMs })
      await name.take()
      await name.overask()
      await bench.advance(2.5)
      same((await name.take()).inUse, 2, 'inUse')
      await name.overask()
    }),
    test('tells how long until the next lease runs out', ['advance'], async (bench) => {
      const name = new LeasedName(bench)
      await name.take({ leaseMs: 60 * bench.tickMs })
      await name.take({ leaseMs: 4 * bench.tickMs })
      await bench.advance(1)
      const { retryAfterMs } = await name.overask()
      holds(Number.isInteger(retryAfterMs) && retryAfterMs > 0, 'retryAfterMs is a duration in whole ms')
      atMost(retryAfterMs, 3 * bench.tickMs + 1, 'retryAfterMs')
      await bench.wait(retryAfterMs)
      await name.take()
    }),
    test('holds a slot that is renewed for its lease from now on', ['advance'], async (bench) => {
      const name = new LeasedName(bench)
      const held = await name.take({ limit: 1, leaseMs: 4 * bench.tickMs })
      for (let renewal = 0; renewal < 3; renewal++) {
        await bench.advance(2.5)
        same(await name.renew(held, 4 * bench.tickMs), true, 'the renewal')
        await name.overask({ limit: 1 })
      }
      await bench.advance(4.5)
      await name.take({ limit: 1 })
    }),
    test('renews nothing once the lease ran out', ['advance'], async (bench) => {
      const name = new LeasedName(bench)
      const held = await name.take({ limit: 1, leaseMs: bench.tickMs })
      await bench.advance(1.5)
      same(await name.renew(held), false, 'the renewal of a slot that nobody took since')
      const next = await name.take({ limit: 1 })
      same(await name.renew(held), false, 'the renewal of a slot that is another’s')
      same(await name.renew(next), true, 'the renewal of who has it')
    }),
    test('renews nothing that was released, or never lent', [], async (bench) => {
      const name = new LeasedName(bench)
      const held = await name.take()
      await name.release(held)
      same(await name.renew(held), false, 'the renewal of what was released')
      const elsewhere = new LeasedName(bench, `${bench.name}-2`)
      same(await elsewhere.renew(held), false, 'the renewal of what was never lent')
      same((await elsewhere.take()).inUse, 1, 'inUse afterwards')
    }),
    test('renews and releases by owner and fence together', [], async (bench) => {
      const name = new LeasedName(bench)
      const [a, b] = [await name.take(), await name.take()]
      const mixed = { owner: a.owner, fence: b.fence }
      same(await name.renew(mixed), false, 'the renewal under the fence of another')
      await name.release(mixed)
      await name.release({ owner: b.owner, fence: a.fence })
      await name.overask()
      same((await name.renew(a)) && (await name.renew(b)), true, 'both slots are still held')
    }),
    test('releases nothing under a fence that is over', ['advance'], async (bench) => {
      const name = new LeasedName(bench)
      const held = await name.take({ limit: 1, leaseMs: bench.tickMs })
      await bench.advance(1.5)
      const again = await name.take({ limit: 1, owner: held.owner })
      await name.release(held)
      await name.overask({ limit: 1 })
      same(await name.renew(again), true, 'the slot is still held')
    }),
    test('takes no harm from a release of what is free', [], async (bench) => {
      const name = new LeasedName(bench)
      const [held] = [await name.take(), await name.take()]
      await name.release(held)
      await name.release(held)
      await name.release(held)
      same((await name.take()).inUse, 2, 'inUse')
      await name.overask()
    }),
    test('holds a slot for the whole of a long lease', ['leap'], async (bench) => {
      const name = new LeasedName(bench)
      const held = await name.take({ limit: 1, leaseMs: 24 * HOUR_MS })
      await bench.hook('leap')(20 * HOUR_MS, bench.store)
      await name.overask({ limit: 1 })
      same(await name.renew(held, 24 * HOUR_MS), true, 'the renewal')
      await bench.hook('leap')(20 * HOUR_MS, bench.store)
      same(await name.renew(held), true, 'the renewal after the first lease')
    }),
    test('holds a long lease beside a short one', ['leap'], async (bench) => {
      const name = new LeasedName(bench)
      const held = await name.take({ leaseMs: 24 * HOUR_MS })
      await name.take({ leaseMs: 1_000 })
      await bench.hook('leap')(20 * HOUR_MS, bench.store)
      same((await name.take({ leaseMs: 1_000 })).inUse, 2, 'inUse')
      same(await name.renew(held, 1_000), true, 'the renewal')
    }),
    test(
      'frees no slot because its clock is set back, and blocks none',
      ['stepClock', 'advance'],
      async (bench) => {
        const name = new LeasedName(bench)
        const held = await name.take({ limit: 1, leaseMs: 4 * bench.tickMs })
        await bench.hook('stepClock')(-HOUR_MS, bench.store)
        // From the next command on it is made up for.
        const { retryAfterMs } = await name.overask({ limit: 1 })
        atMost(retryAfterMs, 4 * bench.tickMs, 'retryAfterMs')
        same(await name.renew(held, 4 * bench.tickMs), true, 'the renewal')
        await bench.advance(4.5)
        await name.take({ limit: 1 })
      },
    ),
  ],
}
