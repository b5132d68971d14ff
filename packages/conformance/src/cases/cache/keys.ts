import { CachedKey } from '../../cached-key'
import { type Group, test } from '../../case'
import { ALIKE, HOSTILE } from '../../hostile'

export const keys: Group = {
  title: 'Keys of values are anything',
  cases: [
    ...Object.entries(HOSTILE).map(([what, hostile]) =>
      test(`keeps a value under a key of ${what}`, [], async (bench) => {
        for (const name of [hostile + bench.name + hostile, hostile]) {
          const key = new CachedKey(bench, name)
          // A key that is nothing but hostile may have been left behind by a run before.
          await key.delete()
          await key.keeps(undefined, 'before it was set')
          await key.set('a')
          await key.keeps('a', 'after it was set')
          await key.delete()
          await key.keeps(undefined, 'after it was deleted')
        }
      }),
    ),
    test('keeps the values of keys apart that look alike', [], async (bench) => {
      const keys = ALIKE.map((alike) => new CachedKey(bench, bench.name + alike))
      for (const { key } of keys) await new CachedKey(bench, key).set(key)
      for (const key of keys) await key.keeps(key.key, 'of a key')
      for (const key of keys) {
        await key.keeps(key.key, 'of a key, others being deleted')
        await key.delete()
      }
    }),
    test('deletes the value of exactly one key', [], async (bench) => {
      const key = new CachedKey(bench, `${bench.name}-key`)
      const others = [bench.name, `${bench.name}-`, `${key.key}-`, `${key.key}:a`, `${bench.name}-ke*`]
      const keys = others.map((other) => new CachedKey(bench, other))
      for (const one of [key, ...keys]) await one.set('a')
      await key.delete()
      for (const one of keys) await one.keeps('a', 'of another key')
      await key.set('b')
      for (const one of keys) await one.delete()
      await key.keeps('b', 'of the key, others being deleted')
    }),
  ],
}
