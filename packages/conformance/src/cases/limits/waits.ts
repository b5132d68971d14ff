import { atMost, holds, same } from '../../assertion'
import { type Group, test } from '../../case'
import { LimitedKey } from '../../limited-key'
import { byEach, quotaOf } from '../../quotas'

export const waits: Group = {
  title: 'Durations that are long enough',
  cases: [
    ...byEach('allows all of it again once it is reset', ['advance'], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm, { windowMs: 8 * bench.tickMs })]
      await key.take(quota, 4)
      await bench.advance(1)
      const { quotas } = await key.take(quota, 5)
      const resetMs = quotas[0]?.resetMs ?? Number.NaN
      holds(Number.isInteger(resetMs) && resetMs > 0, 'resetMs is a duration in whole ms')
      await bench.wait(resetMs)
      await key.remains(quota, 10, 'once it is reset')
      await key.take(quota, 10)
    }),
    ...byEach('is reset no later than it takes', ['advance'], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm, { windowMs: 20 * bench.tickMs })]
      same((await key.peek(quota)).quotas[0]?.resetMs, 0, 'resetMs before anything was consumed')
      await key.take(quota, 5)
      await bench.advance(4)
      const { quotas } = await key.peek(quota)
      // Of gcra, half of the window is what 5 of 10 take to drain.
      const takesMs = (algorithm === 'gcra' ? 10 : 20) * bench.tickMs
      // A sliding window may err by a slice.
      const passedMs = (algorithm === 'sliding-window' ? 3 : 4) * bench.tickMs
      atMost(quotas[0]?.resetMs ?? Number.NaN, takesMs - passedMs + 1, 'resetMs')
    }),
    ...byEach('allows what it denied, after the wait that it told', ['advance'], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm, { windowMs: 8 * bench.tickMs })]
      for (const cost of [8, 10]) {
        await key.take(quota, 6)
        await bench.advance(1)
        await key.take(quota, 4)
        const { retryAfterMs } = await key.overask(quota, cost)
        holds(Number.isInteger(retryAfterMs) && retryAfterMs > 0, 'retryAfterMs is a duration in whole ms')
        await bench.wait(retryAfterMs)
        await key.take(quota, cost)
        await key.reset()
      }
    }),
    ...byEach('tells no longer a wait than it takes', ['advance'], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm, { windowMs: 20 * bench.tickMs })]
      await key.take(quota, 10)
      await bench.advance(1)
      const { retryAfterMs } = await key.overask(quota, 10)
      // A sliding window may err by a slice.
      const passedMs = algorithm === 'sliding-window' ? 0 : bench.tickMs
      atMost(retryAfterMs, quota.windowMs - passedMs + 1, 'retryAfterMs for all of it')
      if (algorithm !== 'gcra') return
      const { retryAfterMs: forOne } = await key.consume(quota, 1)
      atMost(forOne, bench.tickMs + 1, 'retryAfterMs for a tenth of it')
    }),
    ...byEach('tells nothing to wait for where it allows', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      same((await key.take(quota, 10)).retryAfterMs, 0, 'retryAfterMs')
      await key.reset()
      same((await key.peek(quota)).retryAfterMs, 0, 'retryAfterMs of a peek')
    }),
    ...byEach('denies for good what it can never hold', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      const { retryAfterMs, violated } = await key.overask(quota, 11)
      same(retryAfterMs, Number.POSITIVE_INFINITY, 'retryAfterMs')
      same(violated.join(), quota.name, 'violated')
      await key.take(quota, 10)
    }),
    test('waits for the quota that takes longest', [], async (bench) => {
      const key = new LimitedKey(bench)
      const quotas = [
        quotaOf('fixed-window', { name: 'short', windowMs: 600_000 }),
        quotaOf('fixed-window', { name: 'long', windowMs: 3_600_000 }),
        quotaOf('fixed-window', { name: 'middle', windowMs: 1_800_000 }),
      ]
      await key.take(quotas, 10)
      const { retryAfterMs } = await key.overask(quotas, 1)
      holds(retryAfterMs > 1_800_000, 'retryAfterMs is that of the longest')
      atMost(retryAfterMs, 3_600_000, 'retryAfterMs')
      const never = await key.overask([...quotas, quotaOf('gcra', { name: 'small', burst: 1 })], 2)
      same(never.retryAfterMs, Number.POSITIVE_INFINITY, 'retryAfterMs where one of them can never hold it')
    }),
  ],
}
