import type { LimitDecision, LimitStore, Quota } from '@tidegate/contract'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { startRedis } from '../../../../test/support/redis/index'
import { memoryStore } from '../../../memory/src'
import { LimitsModel } from '../model/limits-model'
import { fresh } from '../support/caller'
import { client } from '../support/clients'
import { frozenClock } from '../support/frozen-clock'
import { type LimitStep, type LimitWorld, limitSteps } from './limit-steps'

const server = await startRedis()
afterAll(() => server.stop())

const seed = Number(process.env.TIDEGATE_SEED ?? Math.floor(Math.random() * 2 ** 31))

const clock = frozenClock(client(6, server), true)
const redis = clock.store.limits

const worlds: Readonly<Record<string, LimitWorld>> = {
  'of a minute': { names: ['x', 'y', 'z'], windows: [60_000], waits: [1_000, 20_000] },
  'of odd lengths': { names: ['x', 'y', 'z'], windows: [997, 10_007], waits: [7, 400, 5_000] },
  'of fewer ms than slices': { names: ['x', 'y'], windows: [1, 7, 31], waits: [1, 5, 20] },
  'of one length, that differs from day to day': { names: ['x'], windows: [100, 86_400_000], waits: [60] },
  'beyond what a key has slots for': {
    names: ['a b', 'c\nd', '{e}', 'f', 'g', 'h', 'i'],
    windows: [5_000, 7_000],
    waits: [200],
  },
}

/** What is asked beside Redis, by a clock of the test's. */
interface Other {
  of(clockMs: () => number): LimitStore
  /** Whether that too has a time for each key, and so the same reservations. */
  readonly isByKey: boolean
}

const model: Other = { of: (clockMs) => new LimitsModel(clockMs), isByKey: true }
const memory: Other = { of: (now) => memoryStore({ clock: { now } }).limits, isByKey: false }

describe(`limits, with seed ${seed} (TIDEGATE_SEED replays it)`, () => {
  for (const [how, world] of Object.entries(worlds)) {
    it(`answer what their rules say, in windows ${how}`, async () => {
      const property = fc.asyncProperty(limitSteps(world, true), (steps) => play(steps, model))
      await fc.assert(property, { seed, numRuns: 150 })
    })

    // In windows of one length at a time: of several, memory forgets a key with the longest
    // that still holds something, and here it stays for all that was reserved.
    it(`answer as in memory, in windows ${how}`, async () => {
      for (const windowMs of world.windows) {
        const steps = limitSteps({ ...world, windows: [windowMs] }, false)
        const property = fc.asyncProperty(steps, (steps) => play(steps, memory))
        await fc.assert(property, { seed, numRuns: 60 })
      }
    })
  }
})

interface Made {
  readonly key: string
  readonly quotas: readonly Quota[]
  readonly theirs: string
  readonly ours: string
}

async function play(steps: readonly LimitStep[], { of, isByKey }: Other): Promise<void> {
  let now = Date.UTC(2026, 0, 1)
  const other = of(() => now)
  const run = fresh()
  const made: Made[] = []

  const both = async <Answer>(
    ask: (store: LimitStore, reservation: 'ours' | 'theirs') => Answer | Promise<Answer>,
  ): Promise<readonly [ours: Answer, theirs: Answer]> => {
    const [, theirs] = await Promise.all([clock.set(now), ask(redis, 'theirs')])
    return [await ask(other, 'ours'), theirs]
  }
  const decide = async (
    is: string,
    ask: (store: LimitStore) => LimitDecision | Promise<LimitDecision>,
  ): Promise<Pick<Made, 'ours' | 'theirs'>> => {
    const [ours, theirs] = await both(ask)
    const comparable = (one: LimitDecision): unknown =>
      isByKey ? one : { ...one, reservation: one.reservation !== '' }
    expect(comparable(theirs), is).toEqual(comparable(ours))
    return { ours: ours.reservation, theirs: theirs.reservation }
  }

  for (const step of steps) {
    now += step.waitMs
    const key = `${run}|${step.key}`
    if (step.is === 'peek') await decide('peek', (store) => store.peek(key, step.quotas))
    else if (step.is === 'consume') {
      const reservations = await decide('consume', (store) => store.consume(key, step.quotas, step.cost))
      made.push({ key, quotas: step.quotas, ...reservations })
    } else if (step.is === 'settle') {
      const one = made.filter((one) => one.key === key).at(-1 - step.back)
      if (one === undefined) continue
      const quotas = step.quotas ?? one.quotas
      await both((store, whose) => store.settle(key, quotas, one[whose], step.cost))
      // What it did shows in what is left.
      await decide('settle', (store) => store.peek(key, quotas))
    } else {
      // In the same microsecond the next life would not have to be another one.
      now++
      await both((store) => store.reset(key))
    }
  }
}
