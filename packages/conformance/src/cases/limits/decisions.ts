import { MAX_QUOTAS, type Quota } from '@tidegate/contract'
import { holds, same } from '../../assertion'
import { type Group, test } from '../../case'
import { LimitedKey } from '../../limited-key'
import { byEach, quotaOf } from '../../quotas'

/** Of three sizes and of all algorithms. */
const QUOTAS: readonly Quota[] = [
  quotaOf('gcra', { name: 'second', limit: 20, burst: 5 }),
  quotaOf('sliding-window', { name: 'minute', limit: 8 }),
  quotaOf('fixed-window', { name: 'a day', limit: 12 }),
]

export const decisions: Group = {
  title: 'All quotas or none',
  cases: [
    test('consumes of all quotas, or of none', [], async (bench) => {
      const key = new LimitedKey(bench)
      const small = quotaOf('fixed-window', { name: 'small', limit: 3 })
      await key.take([...QUOTAS, small], 2)
      await key.overask([...QUOTAS, small], 2)
      await key.overask([small, ...QUOTAS], 2)
      const { quotas } = await key.peek([...QUOTAS, small])
      same(quotas.map(({ remaining }) => remaining).join(), '3,6,10,1', 'what remains of each')
    }),
    test('names the quotas that had too little left, and no others', [], async (bench) => {
      const key = new LimitedKey(bench)
      same((await key.take(QUOTAS, 4)).violated.length, 0, 'violated where it is allowed')
      same((await key.overask(QUOTAS, 3)).violated.join(), 'second', 'violated by 3')
      same([...(await key.overask(QUOTAS, 5)).violated].sort().join(), 'minute,second', 'violated by 5')
      same([...(await key.overask(QUOTAS, 9)).violated].sort().join(), 'a day,minute,second', 'violated by 9')
    }),
    test('tells of quotas in the order in which they were asked for', [], async (bench) => {
      const key = new LimitedKey(bench)
      await key.take(QUOTAS, 4)
      for (const order of [[1, 0, 2], [2, 1, 0], [0]]) {
        const asked = order.map((index) => QUOTAS[index] as Quota)
        for (const { quotas } of [
          await key.peek(asked),
          await key.overask(asked, 9),
          await key.take(asked, 0),
        ]) {
          same(quotas.map(({ name }) => name).join(), asked.map(({ name }) => name).join(), 'the names')
          same(quotas.map(({ limit }) => limit).join(), asked.map(({ limit }) => limit).join(), 'the limits')
          const left = order.map((index) => [1, 4, 8][index])
          same(quotas.map(({ remaining }) => remaining).join(), left.join(), 'what remains')
        }
      }
    }),
    test('keeps as many quotas as a command may bring', [], async (bench) => {
      const key = new LimitedKey(bench)
      const quotas = Array.from({ length: MAX_QUOTAS }, (_, index) =>
        quotaOf('sliding-window', { name: `quota ${index}`, limit: 10 + index }),
      )
      await key.take(quotas, 9)
      for (const [index, quota] of quotas.entries()) await key.remains(quota, 1 + index, `of ${quota.name}`)
      same((await key.overask(quotas, 2)).violated.join(), 'quota 0', 'violated')
    }),
    test('keeps those of a fleet of two versions, each with as many quotas', [], async (bench) => {
      const key = new LimitedKey(bench)
      const version = (windowMs: number): readonly Quota[] =>
        Array.from({ length: MAX_QUOTAS }, (_, index) =>
          quotaOf('fixed-window', { name: `quota ${index}`, windowMs }),
        )
      const [old, recent] = [version(3_600_000), version(1_800_000)]
      await key.take(old, 7)
      await key.take(recent, 8)
      for (const quota of old) await key.remains(quota, 3, `of ${quota.name} as it was`)
      for (const quota of recent) await key.remains(quota, 2, `of ${quota.name} as it is`)
    }),
    ...byEach('consumes nothing where it denies', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      await key.take(quota, 7)
      for (let ask = 0; ask < 5; ask++) await key.overask(quota, 4)
      await key.overask(quota, 10_000)
      await key.remains(quota, 3, 'after denials')
      await key.take(quota, 3)
    }),
    ...byEach('allows a cost of nothing where nothing is left', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      await key.take(quota, 0)
      await key.remains(quota, 10, 'after a cost of nothing')
      await key.take(quota, 10)
      await key.take(quota, 0)
      await key.remains(quota, 0, 'after all of it and a cost of nothing')
    }),
    test('reserves with each consumption, and with no denial', [], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('sliding-window')]
      const reservations = new Set<string>()
      for (const cost of [5, 5, 0]) reservations.add((await key.take(quota, cost)).reservation)
      same(reservations.size, 3, 'the reservations')
      holds(!reservations.has(''), 'none of them is empty')
      same((await key.overask(quota, 1)).reservation, '', 'the reservation of what was denied')
    }),
    test('consumes twice what is delivered twice', [], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('gcra')]
      const reservations = [await key.take(quota, 4), await key.take(quota, 4)].map(
        ({ reservation }) => reservation,
      )
      same(new Set(reservations).size, 2, 'the reservations')
      await key.remains(quota, 2, 'after two deliveries')
    }),
  ],
}
