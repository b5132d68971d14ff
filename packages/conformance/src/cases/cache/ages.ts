import { atMost, holds } from '../../assertion'
import { CachedKey } from '../../cached-key'
import { type Group, test } from '../../case'

const HOUR_MS = 3_600_000

export const ages: Group = {
  title: 'A value has its age and its time',
  cases: [
    test('tells the age of a value, by its own clock', ['advance'], async (bench) => {
      const key = new CachedKey(bench)
      const before = await bench.now()
      await key.set('a')
      for (let ticks = 0; ticks <= 6; ticks += 3) {
        const ageMs = (await key.get())?.ageMs ?? Number.NaN
        holds(Number.isInteger(ageMs), 'the age is in whole ms')
        holds(ageMs >= ticks * bench.tickMs - 1, `the age is ${ticks} ticks at least`)
        atMost(ageMs, (await bench.now()) - before + 1, 'the age')
        await bench.advance(3)
      }
    }),
    test('has no value any more that has outlived its time', ['advance'], async (bench) => {
      const key = new CachedKey(bench)
      await key.set('a', 2 * bench.tickMs)
      await key.keeps('a', 'at once')
      await bench.advance(2.5)
      await key.keeps(undefined, 'after its time')
    }),
    test('lengthens no time by reading', ['advance'], async (bench) => {
      const key = new CachedKey(bench)
      await key.set('a', 4 * bench.tickMs)
      for (let read = 0; read < 3; read++) {
        await bench.advance(1.5)
        await key.get()
      }
      await key.keeps(undefined, 'after its time')
    }),
    test('begins age and time anew when a value is overwritten', ['advance'], async (bench) => {
      const key = new CachedKey(bench)
      await key.set('a', 4 * bench.tickMs)
      await bench.advance(2.5)
      const before = await bench.now()
      await key.set('a', 4 * bench.tickMs)
      const ageMs = (await key.get())?.ageMs ?? Number.NaN
      atMost(ageMs, (await bench.now()) - before + 1, 'the age of the value set again')
      await bench.advance(2.5)
      await key.keeps('a', 'after the time of the first one')
      await bench.advance(2.5)
      await key.keeps(undefined, 'after the time of the second one')
    }),
    test('takes a shorter time where a value is overwritten', ['advance'], async (bench) => {
      const key = new CachedKey(bench)
      await key.set('a')
      await key.set('b', 2 * bench.tickMs)
      await bench.advance(2.5)
      await key.keeps(undefined, 'after its time')
    }),
    test('keeps a value for a long time', ['leap'], async (bench) => {
      const key = new CachedKey(bench)
      await key.set('a', 24 * HOUR_MS)
      await bench.hook('leap')(20 * HOUR_MS, bench.store)
      const entry = await key.get()
      holds(entry?.value === 'a', 'the value after 20 hours')
      holds((entry?.ageMs ?? 0) >= 20 * HOUR_MS - 1, 'its age')
      await bench.hook('leap')(5 * HOUR_MS, bench.store)
      await key.keeps(undefined, 'after 25 hours')
    }),
    test('tells no age below 0 where its clock is set back', ['stepClock'], async (bench) => {
      const key = new CachedKey(bench)
      await key.set('a')
      await bench.hook('stepClock')(-HOUR_MS, bench.store)
      const entry = await key.get()
      holds(entry?.value === 'a', 'the value')
      holds((entry?.ageMs ?? -1) >= 0, 'its age is at least 0')
    }),
  ],
}
