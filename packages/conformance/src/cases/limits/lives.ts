import { atMost, same } from '../../assertion'
import { type Group, test } from '../../case'
import { LimitedKey } from '../../limited-key'
import { byEach, LONG_MS, quotaOf } from '../../quotas'

const DAY_MS = 86_400_000

export const lives: Group = {
  title: 'Its time never runs backwards, and its state is kept as long as it counts',
  cases: [
    ...byEach('frees nothing where its clock is set back', ['stepClock'], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      const { reservation } = await key.take(quota, 10)
      for (let step = 0; step < 3; step++) {
        await bench.hook('stepClock')(-2 * LONG_MS, bench.store)
        const { retryAfterMs } = await key.overask(quota, 1)
        atMost(retryAfterMs, LONG_MS, 'retryAfterMs')
      }
      await key.settle(quota, reservation, 6)
      await key.remains(quota, 4, 'after it was settled')
    }),
    ...byEach(
      'blocks nobody where its clock is set back',
      ['stepClock', 'advance'],
      async (bench, algorithm) => {
        const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm, { windowMs: 8 * bench.tickMs })]
        await key.take(quota, 10)
        await bench.hook('stepClock')(-LONG_MS, bench.store)
        // From the next command on it is made up for.
        await key.overask(quota, 10)
        await bench.advance(8.5)
        await key.take(quota, 10)
      },
    ),
    ...byEach('keeps what counts for its window', ['leap'], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm, { windowMs: DAY_MS })]
      await key.take(quota, 10)
      await bench.hook('leap')((7 * DAY_MS) / 10, bench.store)
      await key.overask(quota, 10)
      const held = (await key.peek(quota)).quotas[0]?.remaining
      // Of gcra, what drained meanwhile.
      same(held, algorithm === 'gcra' ? 7 : 0, 'what remains after seven tenths of a window')
    }),
    test('keeps a burst for as long as it takes to drain', ['leap'], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('gcra', { burst: 100 })]
      await key.take(quota, 100)
      await bench.hook('leap')(5 * LONG_MS, bench.store)
      await key.remains(quota, 50, 'after five windows')
    }),
    test('keeps a debt for as long as it takes to drain', ['leap'], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('gcra')]
      const { reservation } = await key.take(quota, 1)
      await key.settle(quota, reservation, 100)
      await bench.hook('leap')(6 * LONG_MS, bench.store)
      await key.overask(quota, 0)
    }),
    test('keeps the long quota of a key beside a short one', ['leap'], async (bench) => {
      const key = new LimitedKey(bench)
      const [short, long] = [
        quotaOf('fixed-window', { name: 'short', windowMs: 1_000 }),
        quotaOf('fixed-window', { name: 'long', windowMs: DAY_MS }),
      ]
      await key.take([short, long], 10)
      await bench.hook('leap')(LONG_MS, bench.store)
      await key.take(short, 10)
      await bench.hook('leap')(LONG_MS, bench.store)
      await key.remains(long, 0, 'of the long one')
    }),
    ...byEach('has forgotten everything a month later', ['leap'], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm, { windowMs: DAY_MS })]
      const { reservation } = await key.take(quota, 10)
      await bench.hook('leap')(30 * DAY_MS, bench.store)
      await key.take(quota, 10)
      await key.settle(quota, reservation, 0)
      await key.overask(quota, 1)
    }),
    test('has forgotten everything after it was flushed', ['flush'], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('gcra')]
      await key.take(quota, 10)
      await bench.hook('flush')(bench.store)
      await key.take(quota, 10)
    }),
  ],
}
