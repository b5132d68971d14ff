import type { CircuitWindow } from '@tidegate/contract'
import fc from 'fast-check'
import { afterAll, describe, it } from 'vitest'
import { startRedis } from '../../../../test/support/redis/index'
import { fresh } from '../support/caller'
import { client } from '../support/clients'
import { Pair } from './pair'
import { atTheLimits, steps } from './steps'

const server = await startRedis()
afterAll(() => server.stop())
const redis = client(6, server)

const seed = Number(process.env.TIDEGATE_SEED ?? Math.floor(Math.random() * 2 ** 31))

const time = (ms: number): CircuitWindow => ({ kind: 'time', ms })
const consecutive: CircuitWindow = { kind: 'consecutive' }

const sets: Readonly<Record<string, readonly CircuitWindow[]>> = {
  'in one window of time': [time(400)],
  'in one window of an odd length': [time(397)],
  'in the shortest windows': [time(1), time(7), time(10)],
  'in a window that outlasts the fleet’s minute': [time(90_001)],
  'in a row': [consecutive],
  'in windows that overlap': [time(200), time(1_003), time(60_000), consecutive],
  'in more windows than are kept': [10, 22, 101, 103, 1_000, 70_001].map(time),
}

describe(`the memory store and this one, with seed ${seed} (TIDEGATE_SEED replays it)`, () => {
  for (const [how, windows] of Object.entries(sets)) {
    it(`answer the same to whatever they are told, ${how}`, async () => {
      const property = fc.asyncProperty(steps(windows), (all) => new Pair(redis, fresh(), windows).play(all))
      await fc.assert(property, { seed, numRuns: 30, examples: [[atTheLimits(windows[0] as CircuitWindow)]] })
    })
  }
})
