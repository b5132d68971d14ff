import { same } from '../../assertion'
import { type Group, test } from '../../case'
import { LimitedKey } from '../../limited-key'
import { byEach, quotaOf } from '../../quotas'

export const crowds: Group = {
  title: 'One atomic step',
  cases: [
    ...byEach('allows exactly the limit of many that come at once', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm, { limit: 25 })]
      const decisions = await Promise.all(Array.from({ length: 60 }, () => key.consume(quota)))
      const allowed = decisions.filter(({ allowed }) => allowed)
      same(allowed.length, 25, 'what was allowed')
      same(new Set(allowed.map(({ reservation }) => reservation)).size, 25, 'the reservations')
      await key.remains(quota, 0, 'afterwards')
    }),
    test('consumes of all quotas or none, of many that come at once', [], async (bench) => {
      const key = new LimitedKey(bench)
      const quotas = [
        quotaOf('gcra', { name: 'a', limit: 30 }),
        quotaOf('sliding-window', { name: 'b', limit: 21 }),
      ]
      const decisions = await Promise.all(Array.from({ length: 20 }, () => key.consume(quotas, 3)))
      same(decisions.filter(({ allowed }) => allowed).length, 7, 'what was allowed')
      const after = await key.peek(quotas)
      same(after.quotas.map(({ remaining }) => remaining).join(), '9,0', 'what remains of each')
    }),
    test('settles a reservation once, of many settles at once', [], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('sliding-window')]
      await key.take(quota, 5)
      const { reservation } = await key.take(quota, 5)
      await Promise.all(Array.from({ length: 12 }, () => key.settle(quota, reservation, 4)))
      await key.remains(quota, 1, 'afterwards')
    }),
    test('sees what another process consumed', ['peer'], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('fixed-window')]
      for (let turn = 0; turn < 10; turn++) await key.take(quota, 1)
      await key.overask(quota, 1)
      await key.overask(quota, 1)
    }),
  ],
}
