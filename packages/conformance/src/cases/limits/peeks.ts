import { same } from '../../assertion'
import { type Group, test } from '../../case'
import { LimitedKey } from '../../limited-key'
import { byEach, quotaOf } from '../../quotas'

export const peeks: Group = {
  title: 'A peek changes nothing',
  cases: [
    ...byEach('peeks without consuming', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      for (let peek = 0; peek < 3; peek++) await key.remains(quota, 10, 'of what nobody consumed of')
      await key.take(quota, 7)
      for (let peek = 0; peek < 5; peek++) await key.remains(quota, 3, 'after 7')
      await key.take(quota, 3)
    }),
    test('peeks at what would be said of a cost of 1', [], async (bench) => {
      const key = new LimitedKey(bench)
      const quotas = [
        quotaOf('gcra', { name: 'large', limit: 20 }),
        quotaOf('fixed-window', { name: 'small', windowMs: 1_800_000 }),
      ]
      await key.take(quotas, 9)
      const before = await key.peek(quotas)
      same(before.allowed, true, 'allowed, with 1 left')
      same(before.reservation, '', 'the reservation of what was only asked for')
      await key.take(quotas, 1)
      const after = await key.peek(quotas)
      same(after.allowed, false, 'allowed, with nothing left')
      same(after.violated.join(), 'small', 'violated')
      same(after.retryAfterMs > 0 && after.retryAfterMs <= 1_800_000, true, 'it is known how long to wait')
    }),
    test('begins no window with a peek', ['advance'], async (bench) => {
      const key = new LimitedKey(bench)
      const quota = quotaOf('fixed-window', { windowMs: 8 * bench.tickMs })
      await key.peek(quota)
      await bench.advance(5)
      await key.take(quota, 10)
      await bench.advance(5)
      await key.overask(quota, 1)
    }),
  ],
}
