import { refused } from '../../assertion'
import { CachedKey } from '../../cached-key'
import { type Group, test } from '../../case'

export const commands: Group = {
  title: 'What asks nothing of a cache',
  cases: [
    test('refuses a value that is no text', [], async (bench) => {
      const key = new CachedKey(bench)
      await key.set('a')
      for (const value of [undefined, null, 7, {}, ['a']] as unknown as string[]) {
        await refused(() => key.set(value), `a value of type ${typeof value}`)
      }
      await key.keeps('a', 'afterwards')
    }),
    test('refuses a time that is none', [], async (bench) => {
      const key = new CachedKey(bench)
      await key.set('a')
      for (const ttlMs of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '1000'] as number[]) {
        await refused(() => key.set('b', ttlMs), `a time of ${ttlMs}`)
      }
      await key.keeps('a', 'afterwards')
    }),
    test('refuses a cache key that is none', [], async (bench) => {
      for (const wrong of ['', 7] as string[]) {
        const key = new CachedKey(bench, wrong)
        await refused(() => key.get(), 'a get')
        await refused(() => key.set('a'), 'a set')
        await refused(() => key.delete(), 'a delete')
      }
    }),
  ],
}
