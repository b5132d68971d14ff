import {
  checkCost,
  checkKey,
  checkQuotas,
  formatReservation,
  type LimitDecision,
  type LimitStore,
  parseReservation,
  type Quota,
} from '@tidegate/contract'
import { Shelf } from '../shelf'
import type { Time } from '../time'
import { refusalOf, statesOf } from './decide'
import { LimitedKey } from './limited-key'
import type { Slots } from './slots'

const NO_SLOTS: Slots = []
const NOTHING_VIOLATED: readonly string[] = Object.freeze([])

/** Limits in this process' memory. Each method is atomic for it does not wait. */
export class MemoryLimits implements LimitStore {
  readonly #time: Time
  readonly #shelf: Shelf<LimitedKey>

  constructor(maxKeys: number, time: Time) {
    this.#time = time
    this.#shelf = new Shelf(maxKeys)
  }

  consume(key: string, quotas: readonly Quota[], cost: number): LimitDecision {
    checkKey(key)
    checkQuotas(quotas)
    checkCost(cost, quotas)
    const now = this.#time.wholeMs()
    const limited = this.#shelf.get(key, now)
    limited?.drain(quotas, now)
    const refusal = refusalOf(limited?.slots ?? NO_SLOTS, quotas, cost, now)
    if (refusal) {
      // A key that nothing was consumed of is not made: what is denied takes no room of others.
      if (limited) this.#shelf.use(limited, now)
      return denied(refusal, limited?.slots ?? NO_SLOTS, quotas, now)
    }
    return limited ? this.#take(limited, quotas, cost, now) : this.#begin(key, quotas, cost, now)
  }

  peek(key: string, quotas: readonly Quota[]): LimitDecision {
    checkKey(key)
    checkQuotas(quotas)
    const now = this.#time.wholeMs()
    const slots = this.#shelf.get(key, now)?.slots ?? NO_SLOTS
    const refusal = refusalOf(slots, quotas, 1, now)
    return refusal ? denied(refusal, slots, quotas, now) : allowed('', slots, quotas, now)
  }

  settle(key: string, quotas: readonly Quota[], reservation: string, cost: number): void {
    checkKey(key)
    checkQuotas(quotas)
    checkCost(cost, quotas)
    const reserved = parseReservation(reservation)
    if (reserved === undefined) return
    const now = this.#time.wholeMs()
    const limited = this.#shelf.get(key, now)
    if (limited?.settle(quotas, reserved, cost, now)) this.#shelf.use(limited, now)
  }

  reset(key: string): void {
    checkKey(key)
    this.#shelf.delete(key)
  }

  close(): void {
    this.#shelf.clear()
  }

  #take(limited: LimitedKey, quotas: readonly Quota[], cost: number, now: number): LimitDecision {
    const reservation = limited.consume(quotas, cost, now)
    this.#shelf.use(limited, now)
    return allowed(formatReservation(reservation), limited.slots, quotas, now)
  }

  #begin(key: string, quotas: readonly Quota[], cost: number, now: number): LimitDecision {
    const limited = new LimitedKey(key, this.#time.unique(now))
    const reservation = limited.consume(quotas, cost, now)
    this.#shelf.add(limited, now)
    return allowed(formatReservation(reservation), limited.slots, quotas, now)
  }
}

function allowed(reservation: string, slots: Slots, quotas: readonly Quota[], now: number): LimitDecision {
  return {
    allowed: true,
    violated: NOTHING_VIOLATED,
    retryAfterMs: 0,
    reservation,
    quotas: statesOf(slots, quotas, now),
  }
}

function denied(
  refusal: { readonly violated: readonly string[]; readonly retryAfterMs: number },
  slots: Slots,
  quotas: readonly Quota[],
  now: number,
): LimitDecision {
  return { allowed: false, ...refusal, reservation: '', quotas: statesOf(slots, quotas, now) }
}
