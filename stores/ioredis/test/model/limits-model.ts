import {
  capacityOf,
  formatReservation,
  type LimitDecision,
  type LimitStore,
  MAX_SETTLED,
  parseReservation,
  type Quota,
} from '@tidegate/contract'
import { type Slot, slotOf } from './slots'
import { ToldTime } from './told-time'

const MAX_SLOTS = 16

/** The rules of limits, as plainly as they can be written down: see slots.ts. */
export class LimitsModel implements LimitStore {
  readonly #clockMs: () => number
  readonly #lives = new Map<string, Life>()

  constructor(clockMs: () => number) {
    this.#clockMs = clockMs
  }

  consume(key: string, quotas: readonly Quota[], cost: number): LimitDecision {
    const { life, now, tell } = this.#at(key)
    const slots = quotas.map((quota) => life.slotOf(quota))
    const violated = quotas.filter((quota, index) => !(slots[index] as Slot).fits(quota, cost, now))
    if (violated.length > 0) {
      if (this.#lives.get(key) === life) {
        tell()
        for (const quota of quotas) life.drain(quota, now)
      }
      return decision(quotas, slots, violated, cost, now, '')
    }
    for (const [index, quota] of quotas.entries()) {
      slots[index]?.consume(quota, cost, now)
      life.use(quota, slots[index] as Slot, now)
    }
    life.tidy(now)
    tell()
    this.#lives.set(key, life)
    const reservation = formatReservation({ born: life.born, seq: ++life.seq, at: now, cost })
    return decision(quotas, slots, [], cost, now, reservation)
  }

  peek(key: string, quotas: readonly Quota[]): LimitDecision {
    const { life, now } = this.#at(key)
    const slots = quotas.map((quota) => life.slotOf(quota))
    const violated = quotas.filter((quota, index) => !(slots[index] as Slot).fits(quota, 1, now))
    return decision(quotas, slots, violated, 1, now, '')
  }

  settle(key: string, quotas: readonly Quota[], reservation: string, cost: number): void {
    const reserved = parseReservation(reservation)
    const { life, now, tell } = this.#at(key)
    if (reserved === undefined || life !== this.#lives.get(key) || life.born !== reserved.born) return
    const { seq, at } = reserved
    const open = quotas.filter(({ windowMs }) => now - at < windowMs)
    if (open.length === 0 || !life.settles(seq)) return
    for (const quota of open) {
      const slot = life.slotOf(quota)
      slot.settle(quota, at, cost - reserved.cost, now)
      life.use(quota, slot, now)
    }
    life.tidy(now)
    tell()
  }

  reset(key: string): void {
    this.#lives.delete(key)
  }

  /** The life of a key as it is now, or the one that a consumption would begin. */
  #at(key: string): { readonly life: Life; readonly now: number; tell(): void } {
    const clock = this.#clockMs() * 1_000
    const before = this.#lives.get(key)
    const time = before?.time ?? new ToldTime()
    const micros = time.peek(clock)
    const now = Math.floor(micros / 1_000)
    const isOver = before === undefined || now >= before.ends
    const life = isOver ? new Life(time, Math.max((before?.born ?? 0) + 1, micros)) : before
    return { life, now, tell: () => void time.tell(clock) }
  }
}

class Life {
  readonly time: ToldTime
  readonly born: number
  seq = 0
  ends = 0
  #floor = 0
  readonly #settled = new Set<number>()
  /** The latest used last. */
  readonly #slots = new Map<string, Slot>()

  constructor(time: ToldTime, born: number) {
    this.time = time
    this.born = born
  }

  slotOf(quota: Quota): Slot {
    return this.#slots.get(idOf(quota)) ?? slotOf(quota)
  }

  drain(quota: Quota, now: number): void {
    const slot = this.slotOf(quota)
    slot.drain(quota, now)
    this.ends = Math.max(this.ends, slot.endsAt())
  }

  /** Whether that may be settled, and is from now on. */
  settles(seq: number): boolean {
    if (seq > this.seq || seq <= this.#floor || this.#settled.has(seq)) return false
    this.#settled.add(seq)
    if (this.#settled.size > MAX_SETTLED) {
      const lowest = Math.min(...this.#settled)
      this.#settled.delete(lowest)
      this.#floor = Math.max(this.#floor, lowest)
    }
    return true
  }

  use(quota: Quota, slot: Slot, now: number): void {
    this.#slots.delete(idOf(quota))
    this.#slots.set(idOf(quota), slot)
    this.ends = Math.max(this.ends, now + quota.windowMs, slot.endsAt())
  }

  /** Drops the slots that nobody would miss, then those that are too many. */
  tidy(now: number): void {
    for (const [id, slot] of this.#slots) if (slot.endsAt() <= now) this.#slots.delete(id)
    for (const id of this.#slots.keys()) this.ends = Math.max(this.ends, now + windowOf(id))
    for (const id of [...this.#slots.keys()].slice(0, -MAX_SLOTS)) this.#slots.delete(id)
  }
}

function idOf({ name, algorithm, windowMs }: Quota): string {
  return JSON.stringify([name, algorithm, windowMs])
}

function windowOf(id: string): number {
  return JSON.parse(id)[2]
}

function decision(
  quotas: readonly Quota[],
  slots: readonly Slot[],
  violated: readonly Quota[],
  cost: number,
  now: number,
  reservation: string,
): LimitDecision {
  const waits = quotas.map((quota, index) => {
    if (!violated.includes(quota)) return 0
    return cost > capacityOf(quota) ? Number.POSITIVE_INFINITY : (slots[index] as Slot).wait(quota, cost, now)
  })
  return {
    allowed: violated.length === 0,
    violated: violated.map(({ name }) => name),
    retryAfterMs: Math.max(...waits),
    reservation,
    quotas: quotas.map((quota, index) => {
      const slot = slots[index] as Slot
      const { name, limit } = quota
      return { name, limit, remaining: slot.remaining(quota, now), resetMs: slot.resetMs(quota, now) }
    }),
  }
}
