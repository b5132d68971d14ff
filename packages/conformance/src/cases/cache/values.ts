import { holds, same } from '../../assertion'
import { CachedKey } from '../../cached-key'
import { type Group, test } from '../../case'

const VALUES: Readonly<Record<string, string>> = {
  'no length': '',
  JSON: '{"a":[1,null,"b"],"__proto__":{"c":true}}',
  'a number': '0017',
  'what means nothing elsewhere': 'null',
  'what looks like a stamp': '1767225600000:1767225600000|1',
  'line breaks and a NUL': 'a\r\nb\u0000c\n',
  'blanks at both ends': '  a  ',
  'letters beyond ASCII': 'zażółć-日本-🛑-e\u0301',
  '1 MB': 'é'.repeat(524_288),
}

export const values: Group = {
  title: 'A value comes back as it was',
  cases: [
    test('has no value for a key that nobody set', [], async (bench) => {
      same(await new CachedKey(bench).get().then((entry) => entry === undefined), true, 'undefined')
    }),
    ...Object.entries(VALUES).map(([what, value]) =>
      test(`gives back a value of ${what}`, [], async (bench) => {
        const key = new CachedKey(bench)
        await key.set(value)
        const entry = await key.get()
        // Not shown by the message: it may be a megabyte.
        same(entry?.value.length, value.length, 'its length')
        holds(entry?.value === value, 'it is the value')
      }),
    ),
    test('overwrites a value', [], async (bench) => {
      const key = new CachedKey(bench)
      for (const value of ['a longer one', 'b', '', 'c']) {
        await key.set(value)
        await key.keeps(value, 'after it was set')
      }
    }),
    test('deletes a value', [], async (bench) => {
      const key = new CachedKey(bench)
      await key.set('a')
      await key.delete()
      await key.keeps(undefined, 'after it was deleted')
      await key.set('b')
      await key.keeps('b', 'set after that')
    }),
    test('deletes what is not there', [], async (bench) => {
      const key = new CachedKey(bench)
      await key.delete()
      await key.delete()
      await key.keeps(undefined, 'after it was deleted')
    }),
    test('keeps one whole value of many that are set at once', [], async (bench) => {
      const key = new CachedKey(bench)
      const many = Array.from({ length: 12 }, (_, index) => String.fromCharCode(97 + index).repeat(5_000))
      await Promise.all(many.map((value) => key.set(value)))
      const entry = await key.get()
      holds(entry !== undefined && many.includes(entry.value), 'it is one of them')
      await key.keeps(entry?.value, 'to another one who asks')
    }),
    test('gives back what another process set', ['peer'], async (bench) => {
      const key = new CachedKey(bench)
      await key.set('here')
      await key.keeps('here', 'there')
      await key.keeps('here', 'here')
      await key.delete()
      await key.keeps(undefined, 'here')
      await key.keeps(undefined, 'there')
    }),
    test('has nothing after it was flushed', ['flush'], async (bench) => {
      const key = new CachedKey(bench)
      await key.set('a')
      await bench.hook('flush')(bench.store)
      await key.keeps(undefined, 'after it was flushed')
    }),
  ],
}
