import { MAX_SETTLED } from '@tidegate/contract'
import { atMost, same } from '../../assertion'
import { type Group, test } from '../../case'
import { LimitedKey } from '../../limited-key'
import { byEach, quotaOf } from '../../quotas'

/** What nobody was given: a reservation is text, and comes back over networks and through logs. */
const UNREADABLE: readonly string[] = [
  '',
  ' ',
  'x',
  '1.2.3',
  '1.2.3.4.5',
  '-1.1.1.1',
  '1e3.1.1.1',
  '0.0.0.0',
  '1.1.1.100',
  '9999999999999999.9999999999999999.9999999999999999.9999999999999999',
  '1.1.1.1\n',
  '{"born":1,"seq":1,"at":1,"cost":5}',
  '1767225600000000.~a',
]

export const settlements: Group = {
  title: 'The real cost, known later',
  cases: [
    ...byEach('gives back what was too much', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      const { reservation } = await key.take(quota, 8)
      await key.take(quota, 2)
      await key.settle(quota, reservation, 3)
      await key.remains(quota, 5, 'after 8, then 3, and 2')
      await key.take(quota, 5)
      await key.overask(quota, 1)
    }),
    ...byEach('takes what was too little', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      const { reservation } = await key.take(quota, 2)
      await key.settle(quota, reservation, 7)
      await key.remains(quota, 3, 'after 2, then 7')
      const { reservation: nothing } = await key.take(quota, 0)
      await key.settle(quota, nothing, 2)
      await key.remains(quota, 1, 'after nothing, then 2')
    }),
    ...byEach('takes more than there was, as a debt', ['advance'], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm, { windowMs: 8 * bench.tickMs })]
      const { reservation } = await key.take(quota, 10)
      await key.settle(quota, reservation, 15)
      await key.remains(quota, 0, 'in debt')
      await key.overask(quota, 0)
      const { retryAfterMs, quotas } = await key.overask(quota, 1)
      // Of gcra, 15 of 10 a window drain in one and a half.
      atMost(quotas[0]?.resetMs ?? Number.NaN, 1.5 * quota.windowMs + 1, 'resetMs')
      await bench.wait(retryAfterMs)
      await key.take(quota, 1)
    }),
    test('lets a debt of gcra drain at the rate, and no faster', ['advance'], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('gcra', { windowMs: 20 * bench.tickMs })]
      const { reservation } = await key.take(quota, 10)
      await key.settle(quota, reservation, 20)
      // By then 7.5 have drained, and 2.5 have to before there is no debt.
      await bench.advance(15)
      await key.overask(quota, 0)
    }),
    ...byEach('settles a reservation once', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      const { reservation } = await key.take(quota, 5)
      const { reservation: another } = await key.take(quota, 1)
      await key.settle(quota, reservation, 5)
      for (const cost of [0, 2, 9]) await key.settle(quota, reservation, cost)
      await key.remains(quota, 4, 'after the first settle, which changed nothing')
      await key.settle(quota, another, 0)
      await key.settle(quota, another, 0)
      await key.remains(quota, 5, 'after another one was settled twice')
    }),
    test('settles a reservation once, of whole crowds of them', [], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('fixed-window', { limit: 10_000 })]
      const crowd = Array.from({ length: MAX_SETTLED + 6 }, () => key.take(quota, 3))
      const reservations = (await Promise.all(crowd)).map(({ reservation }) => reservation)
      for (let round = 0; round < 2; round++) {
        await Promise.all(reservations.map((reservation) => key.settle(quota, reservation, 2)))
      }
      // Those that it has forgotten it settles as little as those that it remembers.
      await key.remains(quota, 10_000 - 2 * reservations.length, 'after each was settled twice')
    }),
    ...byEach('settles in any order', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      const first = await key.take(quota, 4)
      const second = await key.take(quota, 4)
      await key.settle(quota, second.reservation, 1)
      await key.settle(quota, first.reservation, 2)
      // 7 remain; of gcra a little less, where time passed between the two, for what drained is given back to neither.
      await key.take(quota, 6)
      await key.overask(quota, 2)
    }),
    ...byEach('settles nothing once its window is over', ['advance'], async (bench, algorithm) => {
      const key = new LimitedKey(bench)
      // So slow a rate that what is held of it is much the same a window later.
      const slow = algorithm === 'gcra' ? { limit: 1, burst: 10 } : {}
      const quota = quotaOf(algorithm, { windowMs: 4 * bench.tickMs, ...slow })
      const { reservation: first } = await key.take(quota, 5)
      const { reservation: second } = await key.take(quota, 5)
      await bench.advance(2.5)
      // Without it the key itself would be gone, and its reservations with it.
      await key.take(quota, 0)
      await bench.advance(2)
      await key.take(quota, algorithm === 'gcra' ? 1 : 10)
      await key.settle(quota, first, 0)
      await key.overask(quota, 1)
      await key.settle(quota, second, 500)
      await key.take(quota, 0)
    }),
    test('settles in the quotas whose window is not over', ['advance'], async (bench) => {
      const key = new LimitedKey(bench)
      const [short, long] = [
        quotaOf('fixed-window', { name: 'short', windowMs: 4 * bench.tickMs }),
        quotaOf('fixed-window', { name: 'long' }),
      ]
      const { reservation } = await key.take([short, long], 5)
      await bench.advance(4.5)
      await key.take([short, long], 4)
      await key.settle([short, long], reservation, 2)
      await key.remains(short, 6, 'of the window that came after')
      await key.remains(long, 4, 'of the window that lasts')
    }),
    test('settles in each quota of the consumption', [], async (bench) => {
      const key = new LimitedKey(bench)
      const quotas = [quotaOf('gcra', { name: 'a' }), quotaOf('sliding-window', { name: 'b', limit: 20 })]
      const { reservation } = await key.take(quotas, 6)
      await key.settle(quotas, reservation, 1)
      const after = await key.peek(quotas)
      same(after.quotas.map(({ remaining }) => remaining).join(), '9,19', 'what remains of each')
    }),
    test('gives nothing back to a fixed window that came after', ['advance'], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('fixed-window', { windowMs: 12 * bench.tickMs })]
      await key.take(quota, 1)
      await bench.advance(8)
      const { reservation } = await key.take(quota, 9)
      await bench.advance(5)
      // 5 ticks old, well within 12: but the window that it was consumed of is over.
      await key.take(quota, 10)
      await key.settle(quota, reservation, 0)
      await key.overask(quota, 1)
    }),
    test('gives back of a sliding window what was consumed at that moment', ['advance'], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('sliding-window', { windowMs: 16 * bench.tickMs })]
      const { reservation } = await key.take(quota, 5)
      await bench.advance(8)
      await key.take(quota, 5)
      await key.settle(quota, reservation, 0)
      await key.take(quota, 1)
      await bench.advance(9)
      // The moment given back has left; what was consumed after it has not.
      await key.overask(quota, 5)
      await key.take(quota, 4)
    }),
    test('gives back of gcra no more than is still held', ['advance'], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('gcra', { windowMs: 20 * bench.tickMs })]
      const { reservation } = await key.take(quota, 10)
      await bench.advance(10)
      await key.take(quota, 5)
      await key.settle(quota, reservation, 0)
      await key.remains(quota, 5, 'after 5 that nobody gave back')
    }),
    ...byEach('settles nothing of a key that was reset', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      const reservations: string[] = []
      for (let life = 0; life < 3; life++) {
        await key.reset()
        const { reservation } = await key.take(quota, 4)
        for (const late of reservations) await key.settle(quota, late, life)
        await key.remains(quota, 6, 'after late settles')
        reservations.push(reservation)
      }
      await key.reset()
      for (const late of reservations) await key.settle(quota, late, 9)
      await key.remains(quota, 10, 'after late settles of a key that nobody consumed of')
    }),
    test('settles nothing of a key that was flushed', ['flush'], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('fixed-window')]
      const { reservation } = await key.take(quota, 4)
      await bench.hook('flush')(bench.store)
      await key.take(quota, 4)
      await key.settle(quota, reservation, 0)
      await key.remains(quota, 6, 'after the late settle')
    }),
    test('settles nothing of a consumption that a failover lost', ['loseWrites'], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('fixed-window')]
      await key.take(quota, 6)
      let lost = ''
      await bench.hook('loseWrites')(async () => {
        lost = (await key.take(quota, 4)).reservation
      }, bench.store)
      await key.settle(quota, lost, 0)
      await key.remains(quota, 4, 'after the settle of what was lost')
    }),
    ...byEach('takes no harm from what is no reservation', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      for (const unreadable of UNREADABLE) await key.settle(quota, unreadable, 5)
      await key.remains(quota, 10, 'of what nobody consumed of')
      const { reservation } = await key.take(quota, 5)
      for (const unreadable of UNREADABLE) await key.settle(quota, unreadable, 0)
      for (const unreadable of UNREADABLE) await key.settle(quota, unreadable, 50)
      await key.remains(quota, 5, 'after 5')
      await key.settle(quota, reservation, 4)
      await key.remains(quota, 6, 'after it was settled')
    }),
  ],
}
