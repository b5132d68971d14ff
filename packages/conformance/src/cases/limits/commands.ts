import { MAX_QUOTAS, type Quota } from '@tidegate/contract'
import { refused } from '../../assertion'
import { type Group, test } from '../../case'
import { LimitedKey } from '../../limited-key'
import { quotaOf } from '../../quotas'

const COSTS: readonly unknown[] = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '1', null, 2 ** 53]

const good = quotaOf('gcra')

const QUOTAS: Readonly<Record<string, unknown>> = {
  'no list': good.name,
  'no quota': [],
  'too many quotas': Array.from({ length: MAX_QUOTAS + 1 }, (_, index) => ({ ...good, name: `${index}` })),
  'two quotas of one name': [good, { ...good, algorithm: 'fixed-window' }],
  'no name': [{ ...good, name: '' }],
  'no algorithm': [{ ...good, algorithm: 'leaky' }],
  'a limit of nothing': [{ ...good, limit: 0 }],
  'a limit that is not whole': [{ ...good, limit: 1.5 }],
  'a window of nothing': [{ ...good, windowMs: 0 }],
  'a window that is not whole': [{ ...good, windowMs: 0.5 }],
  'a burst of nothing': [{ ...good, burst: 0 }],
  'a burst of a fixed window': [{ ...good, algorithm: 'fixed-window', burst: 5 }],
  'a limit beyond what can be added up': [{ ...good, limit: 2 ** 40 }],
  'one bad quota among good ones': [good, { ...good, name: 'b', windowMs: -1 }],
}

export const commands: Group = {
  title: 'What is no command',
  cases: [
    test('refuses a cost that is none, and consumes nothing', [], async (bench) => {
      const key = new LimitedKey(bench)
      const { reservation } = await key.take(good, 5)
      for (const cost of COSTS as number[]) {
        await refused(() => key.consume(good, cost), `a consumption of ${cost}`)
        await refused(() => key.settle(good, reservation, cost), `a settle with ${cost}`)
      }
      await key.remains(good, 5, 'afterwards')
    }),
    test('refuses quotas that are none, and consumes nothing', [], async (bench) => {
      const key = new LimitedKey(bench)
      const { reservation } = await key.take(good, 5)
      for (const [what, wrong] of Object.entries(QUOTAS)) {
        const quotas = wrong as readonly Quota[]
        await refused(() => bench.turn().limits?.consume(bench.name, quotas, 1), `a consumption of ${what}`)
        await refused(() => bench.turn().limits?.peek(bench.name, quotas), `a peek at ${what}`)
        await refused(
          () => bench.turn().limits?.settle(bench.name, quotas, reservation, 1),
          `a settle of ${what}`,
        )
      }
      await key.remains(good, 5, 'afterwards')
    }),
    test('refuses a key that is none', [], async (bench) => {
      for (const wrong of ['', 7] as string[]) {
        const key = new LimitedKey(bench, wrong)
        await refused(() => key.consume(good), 'a consumption')
        await refused(() => key.peek(good), 'a peek')
        await refused(() => key.settle(good, '', 0), 'a settle')
        await refused(() => key.reset(), 'a reset')
      }
    }),
  ],
}
