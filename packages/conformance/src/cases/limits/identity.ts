import { same } from '../../assertion'
import type { Bench } from '../../bench'
import { type Group, test } from '../../case'
import { ALIKE, HOSTILE } from '../../hostile'
import { LimitedKey } from '../../limited-key'
import { byEach, quotaOf } from '../../quotas'

/** Each of these is another quota, whatever a store makes a name of its own from. */
const NAMES: readonly string[] = ['a', 'A', 'a|gcra', 'gcra', '__proto__', 'a\n', '{a}', '日本']

export const identity: Group = {
  title: 'A state belongs to its key, its name, its algorithm and its window',
  cases: [
    ...byEach('goes on with what was consumed, under another limit', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      await key.take(quota, 5)
      await key.remains({ ...quota, limit: 20 }, 15, 'of 20')
      await key.remains({ ...quota, limit: 3 }, 0, 'of 3')
      await key.take({ ...quota, limit: 20 }, 10)
      await key.overask(quota, 1)
    }),
    test('goes on with what was consumed, under another burst', [], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('gcra', { burst: 6 })]
      await key.take(quota, 5)
      await key.remains({ ...quota, burst: 8 }, 3, 'of 8')
      await key.take({ ...quota, burst: 8 }, 3)
      await key.overask(quota, 0)
    }),
    ...byEach('begins another window anew, beside the old one', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      const other = { ...quota, windowMs: 1_800_000 }
      await key.take(quota, 10)
      await key.take(other, 4)
      await key.overask(quota, 1)
      await key.remains(other, 6, 'of the other window')
    }),
    test('keeps quotas apart by their algorithm', [], async (bench) => {
      const key = new LimitedKey(bench)
      await key.take(quotaOf('gcra'), 10)
      await key.take(quotaOf('sliding-window'), 9)
      await key.take(quotaOf('fixed-window'), 8)
      await key.remains(quotaOf('gcra'), 0, 'of gcra')
      await key.remains(quotaOf('sliding-window'), 1, 'of the sliding window')
      await key.remains(quotaOf('fixed-window'), 2, 'of the fixed window')
    }),
    test('keeps quotas apart by the letter of their names', [], async (bench) => {
      const key = new LimitedKey(bench)
      for (const [index, name] of NAMES.entries()) await key.take(quotaOf('gcra', { name }), 1 + index)
      const { quotas } = await key.peek(NAMES.map((name) => quotaOf('gcra', { name })))
      same(quotas.map(({ remaining }) => remaining).join(), '9,8,7,6,5,4,3,2', 'what remains of each')
      same(quotas.map(({ name }) => name).join(), NAMES.join(), 'the names')
    }),
    ...Object.entries(HOSTILE).map(([what, key]) =>
      test(`takes a key of ${what}`, [], async (bench) => {
        for (const hostile of [key + bench.name + key, key]) await isKept(bench, hostile)
      }),
    ),
    test('keeps keys apart that look alike', [], async (bench) => {
      const keys = ALIKE.map((alike) => new LimitedKey(bench, bench.name + alike))
      for (const key of keys) await key.take(quotaOf('gcra'), 6)
      for (const key of keys) await key.remains(quotaOf('gcra'), 4, 'of a key')
      for (const key of keys) {
        await key.reset()
        await key.remains(quotaOf('gcra'), 10, 'of the key that was reset')
      }
    }),
    test('resets exactly one key', [], async (bench) => {
      const [quota, name] = [quotaOf('fixed-window'), bench.name]
      const key = new LimitedKey(bench, `${name}-key`)
      const others = [name, `${name}-`, `${name}-key-`, `${name}-key:a`, `${name}-ke*`, `{${name}-key}`]
      const keys = others.map((other) => new LimitedKey(bench, other))
      for (const one of [key, ...keys]) await one.take(quota, 10)
      await key.reset()
      for (const one of keys) await one.overask(quota, 1)
      await key.take(quota, 10)
      for (const one of keys) await one.reset()
      await key.overask(quota, 1)
      for (const one of keys) await one.take(quota, 10)
    }),
    ...byEach('resets every quota of a key', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      const other = { ...quota, windowMs: 1_800_000 }
      await key.reset()
      await key.take(quota, 10)
      await key.take(other, 10)
      await key.reset()
      await key.take(quota, 10)
      await key.take(other, 10)
    }),
  ],
}

async function isKept(bench: Bench, name: string): Promise<void> {
  const [key, quota] = [new LimitedKey(bench, name), quotaOf('sliding-window')]
  // A key that is nothing but hostile may have been left behind by a run before.
  await key.reset()
  const { reservation } = await key.take(quota, 8)
  await key.settle(quota, reservation, 7)
  await key.remains(quota, 3, 'of the key')
  await key.reset()
  await key.remains(quota, 10, 'of the key once it was reset')
  await key.reset()
}
