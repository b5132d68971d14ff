import { fenceNonce, isFence } from '@tidegate/contract'
import { holds, same } from '../../assertion'
import type { Bench } from '../../bench'
import { type Group, test } from '../../case'
import { LeasedName } from '../../leased-name'

export const fences: Group = {
  title: 'A fence names one holding',
  cases: [
    test('mints a greater fence with each slot it lends, with its owner', [], async (bench) => {
      const name = new LeasedName(bench)
      let last = ''
      for (let slot = 0; slot < 20; slot++) {
        const { owner, fence } = await name.take({ limit: 20, owner: falling(bench, slot) })
        holds(isFence(fence) && fence > last, `${fence} comes after ${last}`)
        same(fenceNonce(fence), owner, 'the nonce in the fence')
        last = fence
      }
    }),
    test('mints a greater fence for an owner that comes again', [], async (bench) => {
      const [name, owner] = [new LeasedName(bench), bench.unique()]
      let last = ''
      for (let holding = 0; holding < 5; holding++) {
        const held = await name.take({ owner })
        holds(held.fence > last, `${held.fence} comes after ${last}`)
        last = held.fence
        await name.release(held)
      }
    }),
    test('mints later fences after every lease ran out', ['leap'], (bench) =>
      outlives(bench, () => bench.hook('leap')(30 * 86_400_000, bench.store)),
    ),
    test('mints later slots’ fences after everything was flushed', ['flush'], (bench) =>
      outlives(bench, () => bench.hook('flush')(bench.store)),
    ),
    test('mints later fences while its clock is set back', ['stepClock'], (bench) =>
      outlives(bench, () => bench.hook('stepClock')(-3_600_000, bench.store)),
    ),
    test('mints later fences where nobody held a slot while its clock was set back', ['stepClock'], (bench) =>
      outlives(bench, async (release) => {
        await release()
        await bench.hook('stepClock')(-3_600_000, bench.store)
      }),
    ),
    test('takes no fence for a slot that is not one', [], async (bench) => {
      const name = new LeasedName(bench)
      const held = await name.take({ limit: 1 })
      for (const fence of ['', 'x', `${held.fence}|`, `${held.fence}\n`, held.fence.slice(1)]) {
        // Refused or answered: what counts is that it moves nothing.
        const renewed = await name.renew({ ...held, fence }).catch(() => false)
        same(renewed, false, `the renewal under ${JSON.stringify(fence)}`)
        await name.release({ ...held, fence }).catch(() => {})
      }
      same(await name.renew(held), true, 'the slot is still held')
    }),
  ],
}

/** Whatever befell the name: a slot that is lent after it has a later fence than any before. */
async function outlives(bench: Bench, befall: (release: () => Promise<void>) => unknown): Promise<void> {
  const name = new LeasedName(bench)
  let last = ''
  for (let life = 0; life < 3; life++) {
    const held = await name.take({ limit: 10, owner: falling(bench, life) })
    holds(held.fence > last, `${held.fence} comes after ${last}`)
    last = held.fence
    await befall(() => name.release(held))
  }
}

/** Owners that sort one before another, so that only its digits make a later fence the greater one. */
function falling(bench: Bench, index: number): string {
  return `${String.fromCharCode('z'.charCodeAt(0) - index)}-${bench.unique()}`
}
