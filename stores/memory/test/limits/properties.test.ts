import { capacityOf, type LimitAlgorithm, type LimitDecision, type Quota } from '@tidegate/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src'
import { type HandClock, handClock } from '../support/clock'
import { limitsOf, type PromptLimits } from '../support/parts'
import { seed, seeded } from '../support/seed'

const runs = { seed, numRuns: 500 }

const ALGORITHMS: readonly LimitAlgorithm[] = ['gcra', 'sliding-window', 'fixed-window']

const quota = (algorithm: LimitAlgorithm, name: string): fc.Arbitrary<Quota> =>
  fc
    .record({
      limit: fc.integer({ min: 1, max: 8 }),
      windowMs: fc.constantFrom(1, 7, 31, 32, 100, 999, 1_000),
      burst: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
    })
    .map(({ burst, ...rest }) => ({
      name,
      algorithm,
      ...rest,
      ...(algorithm === 'gcra' && burst !== undefined ? { burst } : {}),
    }))

const quotas: fc.Arbitrary<Quota[]> = fc
  .array(fc.constantFrom(...ALGORITHMS), { minLength: 1, maxLength: 3 })
  .chain((algorithms) => fc.tuple(...algorithms.map((algorithm, index) => quota(algorithm, `q${index}`))))

/** Settles what was consumed that many consumptions ago, after the wait; and then consumes. */
interface Step {
  readonly waitMs: number
  readonly cost: number
  readonly settles: { readonly ago: number; readonly cost: number } | undefined
}

const steps = (longestMs = 400): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.record({
      // Mostly in quick succession, for limits to be met.
      waitMs: fc.oneof({ weight: 3, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(longestMs) }),
      cost: fc.nat(4),
      settles: fc.option(fc.record({ ago: fc.nat(5), cost: fc.nat(6) }), { nil: undefined }),
    }),
    { maxLength: 60 },
  )

/** Of fixed windows: a cost that turns out greater may be known when the next one is half full. */
function givesBack(step: Step): Step {
  return { ...step, settles: step.settles && { ...step.settles, cost: 0 } }
}

interface Event {
  readonly at: number
  cost: number
}

/** What is known to have been consumed of one quota, and when. */
class Ledger {
  readonly quota: Quota
  readonly #events: Event[] = []
  readonly #byReservation = new Map<string, Event>()

  constructor(quota: Quota) {
    this.quota = quota
  }

  consume(reservation: string, cost: number, at: number): void {
    const event = { at, cost }
    this.#events.push(event)
    this.#byReservation.set(reservation, event)
  }

  settle(reservation: string, cost: number, now: number): void {
    const event = this.#byReservation.get(reservation) as Event
    if (now - event.at >= this.quota.windowMs) return
    // Of a level, what was not known before is taken at the moment at which it became known.
    if (this.quota.algorithm === 'gcra' && cost > event.cost) {
      this.#events.push({ at: now, cost: cost - event.cost })
    } else event.cost = cost
  }

  /** That what is known so far keeps to the quota, over all spans that end now. */
  check(now: number): void {
    const { algorithm, limit, windowMs } = this.quota
    let sum = 0
    for (const { at, cost } of this.#events.toReversed()) {
      sum += cost
      const span = now - at
      if (algorithm === 'gcra') {
        expect(sum * windowMs).toBeLessThanOrEqual(limit * span + capacityOf(this.quota) * windowMs)
      } else if (span < windowMs) {
        expect(sum).toBeLessThanOrEqual(algorithm === 'fixed-window' ? 2 * limit : limit)
      }
    }
  }
}

interface Played {
  readonly limits: PromptLimits
  readonly clock: HandClock
}

function play(
  all: readonly Quota[],
  sequence: readonly Step[],
  seen: (decision: LimitDecision, step: Step, before: LimitDecision, now: number) => void = () => {},
  settled: (reservation: string, cost: number, now: number) => void = () => {},
): Played {
  const clock = handClock()
  const limits = limitsOf(memoryStore({ clock }))
  const reservations: string[] = []
  const done = new Set<string>()
  for (const step of sequence) {
    clock.advance(step.waitMs)
    const reservation = step.settles && reservations.at(-1 - step.settles.ago)
    if (step.settles && reservation !== undefined) {
      limits.settle('key', all, reservation, step.settles.cost)
      if (!done.has(reservation)) settled(reservation, step.settles.cost, clock.now())
      done.add(reservation)
    }
    const before = limits.peek('key', all)
    const decision = limits.consume('key', all, step.cost)
    if (decision.allowed) reservations.push(decision.reservation)
    seen(decision, step, before, clock.now())
  }
  return { limits, clock }
}

describe(`limits, ${seeded}`, () => {
  for (const algorithm of ALGORITHMS) {
    it(`let no more through than they promise, real costs counted, by ${algorithm}`, () => {
      fc.assert(
        fc.property(quota(algorithm, 'q'), steps(), (one, all) => {
          const ledger = new Ledger(one)
          play(
            [one],
            algorithm === 'fixed-window' ? all.map(givesBack) : all,
            ({ allowed, reservation }, { cost }, _before, now) => {
              if (!allowed) return
              ledger.consume(reservation, cost, now)
              ledger.check(now)
            },
            (reservation, cost, now) => ledger.settle(reservation, cost, now),
          )
        }),
        runs,
      )
    })
  }

  it('keep each of several quotas', () => {
    fc.assert(
      fc.property(quotas, steps(), (all, sequence) => {
        const ledgers = all.map((one) => new Ledger(one))
        play(
          all,
          sequence.map((step) => ({ ...step, settles: undefined })),
          ({ allowed, reservation }, { cost }, _before, now) => {
            for (const ledger of allowed ? ledgers : []) {
              ledger.consume(reservation, cost, now)
              ledger.check(now)
            }
          },
        )
      }),
      runs,
    )
  })

  it('take all or nothing: what is denied changes no quota, and what is allowed each by the cost', () => {
    fc.assert(
      fc.property(quotas, steps(), (all, sequence) => {
        play(all, sequence, ({ allowed, violated, quotas: states, reservation }, { cost }, before) => {
          expect(violated.length === 0).toBe(allowed)
          expect(reservation === '').toBe(!allowed)
          if (!allowed) expect(states).toEqual(before.quotas)
          for (const [index, { remaining, name }] of states.entries()) {
            const had = before.quotas[index]?.remaining as number
            if (allowed) expect(remaining).toBe(had - cost)
            else if (cost > 0) expect(violated.includes(name)).toBe(had < cost)
          }
        })
      }),
      runs,
    )
  })

  it('tell waits and resets that are exact to the millisecond', () => {
    fc.assert(
      fc.property(quotas, steps(), fc.nat(4), (all, sequence, cost) => {
        const { limits, clock } = play(all, sequence)
        const decision = limits.consume('key', all, cost)
        const { allowed, retryAfterMs } = decision
        const never = all.some((one) => cost > capacityOf(one))
        expect(retryAfterMs === Number.POSITIVE_INFINITY).toBe(never)
        if (allowed || never) {
          expect(allowed ? retryAfterMs : 0).toBe(0)
          return
        }
        clock.advance(retryAfterMs - 1)
        expect(limits.consume('key', all, cost).allowed).toBe(false)
        clock.advance(1)
        expect(limits.consume('key', all, cost).allowed).toBe(true)
      }),
      runs,
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...ALGORITHMS).chain((one) => quota(one, 'q')),
        steps(),
        (one, all) => {
          const { limits, clock } = play([one], all)
          const remaining = (): number | undefined => limits.peek('key', [one]).quotas[0]?.remaining
          const resetMs = limits.peek('key', [one]).quotas[0]?.resetMs as number
          if (resetMs > 0) {
            clock.advance(resetMs - 1)
            expect(remaining()).toBeLessThan(capacityOf(one))
            clock.advance(1)
          }
          expect(remaining()).toBe(capacityOf(one))
        },
      ),
      runs,
    )
  })

  it('settle once, and then as if the cost had been known', () => {
    const cases = fc.tuple(quotas, steps(), fc.nat(4), fc.nat(4), fc.nat(6))
    fc.assert(
      fc.property(cases, ([all, sequence, reserved, real, other]) => {
        const [known, told] = [play(all, sequence), play(all, sequence)]
        const reservation = told.limits.consume('key', all, reserved).reservation
        fc.pre(reservation !== '' && known.limits.consume('key', all, Math.min(real, reserved)).allowed)
        told.limits.settle('key', all, reservation, Math.min(real, reserved))
        told.limits.settle('key', all, reservation, other)
        for (let index = 0; index < 5; index++) {
          expect(told.limits.peek('key', all)).toEqual(known.limits.peek('key', all))
          for (const { clock } of [known, told]) clock.advance(7)
        }
      }),
      runs,
    )
  })

  it('never give back more than is still held', () => {
    const waits = fc.nat(1_200)
    fc.assert(
      fc.property(quotas, steps(), fc.nat(4), waits, (all, sequence, cost, waitMs) => {
        const [without, given] = [play(all, sequence), play(all, sequence)]
        const { reservation } = given.limits.consume('key', all, cost)
        for (const { clock } of [without, given]) clock.advance(waitMs)
        given.limits.settle('key', all, reservation, 0)
        const most = without.limits.peek('key', all).quotas
        for (const [index, { remaining }] of given.limits.peek('key', all).quotas.entries()) {
          expect(remaining).toBeLessThanOrEqual(most[index]?.remaining as number)
        }
      }),
      runs,
    )
  })

  it('ignore what another life of the key reserved', () => {
    fc.assert(
      fc.property(quotas, steps(), fc.nat(6), (all, sequence, cost) => {
        const { limits } = play(all, sequence)
        const { reservation } = limits.consume('key', all, 1)
        limits.reset('key')
        limits.consume('key', all, 1)
        const before = limits.peek('key', all)
        limits.settle('key', all, reservation, cost)
        expect(limits.peek('key', all)).toEqual(before)
      }),
      runs,
    )
  })
})
