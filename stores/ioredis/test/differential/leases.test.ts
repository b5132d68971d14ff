import type { LeaseAnswer, LeaseStore } from '@tidegate/contract'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { startRedis } from '../../../../test/support/redis/index'
import { LeasesModel } from '../model/leases-model'
import { fresh } from '../support/caller'
import { client } from '../support/clients'
import { frozenClock } from '../support/frozen-clock'

const server = await startRedis()
afterAll(() => server.stop())

const seed = Number(process.env.TIDEGATE_SEED ?? Math.floor(Math.random() * 2 ** 31))

const clock = frozenClock(client(6, server), true)
const redis = clock.store.leases

const step = fc.record({
  is: fc.constantFrom('acquire' as const, 'acquire' as const, 'renew' as const, 'release' as const),
  name: fc.constantFrom('x', '{y}'),
  owner: fc.constantFrom('a', 'b', 'c', 'd', '-_9'),
  limit: fc.constantFrom(1, 2, 3),
  leaseMs: fc.integer({ min: 1, max: 100 }),
  /** Whose fence, and which before the latest: mostly its own. */
  of: fc.option(fc.constantFrom('a', 'b'), { nil: undefined, freq: 8 }),
  back: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) }),
  waitMs: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 8, arbitrary: fc.integer({ min: 1, max: 60 }) },
    { weight: 1, arbitrary: fc.integer({ min: -1_000, max: -1 }) },
  ),
})

describe(`leases, and their rules written down plainly, with seed ${seed} (TIDEGATE_SEED replays it)`, () => {
  it('answer the same to whatever they are told', async () => {
    const steps = fc.array(step, { minLength: 1, maxLength: 80, size: 'max' })
    await fc.assert(fc.asyncProperty(steps, play), { seed, numRuns: 300 })
  })
})

async function play(
  steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[],
): Promise<void> {
  let now = Date.UTC(2026, 0, 1)
  const model = new LeasesModel(() => now)
  const run = fresh()
  const made: { readonly name: string; readonly owner: string; readonly fence: string }[] = []
  for (const { is, owner, limit, leaseMs, of = owner, back, ...step } of steps) {
    now += step.waitMs
    const name = `${run}|${step.name}`
    const same = async <Answer>(ask: (store: LeaseStore) => Answer | Promise<Answer>): Promise<Answer> => {
      const [, theirs] = await Promise.all([clock.set(now), ask(redis)])
      const ours = await ask(model)
      expect(theirs, is).toEqual(ours)
      return ours
    }
    if (is === 'acquire') {
      const answer = await same<LeaseAnswer>((store) => store.acquire(name, { owner, limit, leaseMs }))
      if (answer.ok) made.push({ name, owner, fence: answer.fence })
      continue
    }
    const fences = made.filter((one) => one.name === name && one.owner === of)
    const { fence } = fences.at(-1 - back) ?? fences[0] ?? { fence: `1764560000000000.${owner}` }
    if (is === 'renew') await same((store) => store.renew(name, owner, fence, leaseMs))
    else await same((store) => store.release(name, owner, fence))
  }
}
