import type { Quota, Reservation } from '@tidegate/contract'
import { Shelved } from '../shelf'
import { Settlements } from './settlements'
import { findSlot, type Slot, type Slots, tidySlots, touchSlot, weighSlot } from './slots'

/** One life of a key: from its first consumption until it is reset, evicted, or nothing of it counts any more. */
export class LimitedKey extends Shelved<LimitedKey> {
  readonly name: string
  readonly born: number
  readonly slots: Slots = []
  expiresAt = 0
  #seq = 0
  #touches = 0
  #dearUntil = 0
  /** Made with the first one: most limits know the cost beforehand. */
  #settlements: Settlements | undefined = undefined

  constructor(name: string, born: number) {
    super()
    this.name = name
    this.born = born
  }

  /** While it is near a limit: whoever could make the store forget that could go over the limit. */
  override get dearUntil(): number {
    return this.#dearUntil
  }

  /** What is left is as the limits of this caller have it drain, and keeps the key for as long as that takes. */
  drain(quotas: readonly Quota[], now: number): void {
    for (const quota of quotas) {
      const meter = findSlot(this.slots, quota)?.meter
      if (meter === undefined) continue
      meter.drain(quota, now)
      this.expiresAt = Math.max(this.expiresAt, meter.emptyAt)
    }
  }

  /** Consumes what is known to fit. */
  consume(quotas: readonly Quota[], cost: number, now: number): Reservation {
    for (const quota of quotas) {
      const slot = this.#touch(quota)
      slot.meter.consume(quota, cost, now)
      weighSlot(slot, quota, now)
    }
    this.#renew(quotas, now)
    this.#seq++
    return { born: this.born, seq: this.#seq, at: now, cost }
  }

  /** @returns whether it was there to be settled */
  settle(quotas: readonly Quota[], reservation: Reservation, cost: number, now: number): boolean {
    const { born, seq, at } = reservation
    if (born !== this.born || seq > this.#seq) return false
    const lasting = quotas.filter(({ windowMs }) => windowMs > now - at)
    if (lasting.length === 0) return false
    this.#settlements ??= new Settlements()
    if (!this.#settlements.mark(seq)) return false
    for (const quota of lasting) {
      const slot = this.#touch(quota)
      slot.meter.drain(quota, now)
      slot.meter.correct(quota, cost - reservation.cost, at, now)
      weighSlot(slot, quota, now)
    }
    this.#renew(quotas, now)
    return true
  }

  #touch(quota: Quota): Slot {
    this.#touches++
    return touchSlot(this.slots, quota, this.#touches)
  }

  /**
   * It stays for the longest of its windows, and for as long as anything in it counts;
   * never shorter than before, for what was reserved can be settled in its window.
   */
  #renew(quotas: readonly Quota[], now: number): void {
    tidySlots(this.slots, quotas, now)
    this.#dearUntil = 0
    for (const { windowMs, meter, scarceUntil } of this.slots) {
      this.expiresAt = Math.max(this.expiresAt, now + windowMs, meter.emptyAt)
      this.#dearUntil = Math.max(this.#dearUntil, scarceUntil)
    }
  }
}
