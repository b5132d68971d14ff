import { afterAll, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { fresh, tally, terms } from './support/caller'
import { client } from './support/clients'
import { frozenClock } from './support/frozen-clock'

const server = await startRedis()
afterAll(() => server.stop())

const clock = frozenClock(client(6, server))
const { circuits } = clock.store

describe('a window of time', () => {
  // Moments at which buckets begin, and the millisecond before: where a tenth of the
  // window is no whole number, doubles do not put all of them where they belong.
  const moments: [ms: number, moment: number][] = [
    [400, 1767600000400],
    [397, 1767600000356],
    [397, 1767600000396],
    [22, 1767600000012],
    [22, 1767600000014],
    [166, 1767600000152],
  ]
  for (const [ms, moment] of moments) {
    it(`of ${ms} ms has those for reporters whose failures it has, about ${moment}`, async () => {
      const window = { kind: 'time', ms } as const
      const name = fresh()
      await clock.set(moment - 1)
      const { fence } = await circuits.readState(name, terms({ window }))
      const fail = (instance: string) =>
        circuits.record(name, fence, tally(1, { failures: 2 }), terms({ window, instance }))
      await fail('early')
      await clock.set(moment)
      await fail('late')
      const seen: number[] = []
      for (let age = 0; age <= ms; age++) {
        await clock.set(moment + age)
        const { counters } = await circuits.record(
          name,
          fence,
          tally(1),
          terms({ window, instance: 'asking' }),
        )
        expect([age, 2 * counters.reporters]).toEqual([age, counters.failures])
        seen.push(counters.failures)
      }
      // There for nine tenths of the window, and gone with its end.
      expect(Math.min(...seen.slice(0, Math.floor(0.9 * ms)))).toBeGreaterThanOrEqual(2)
      expect(seen.at(-1)).toBe(0)
    })
  }
})
