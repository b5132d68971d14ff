import type { Quota } from '@tidegate/contract'
import type { Meter } from './meter'

/** What was consumed in a window that the first consumption began. */
export class FixedWindow implements Meter {
  #start = 0
  #used = 0
  emptyAt = 0

  waitMs(quota: Quota, cost: number, now: number): number {
    if (this.#usedAt(now) + cost <= quota.limit) return 0
    return cost > quota.limit ? Number.POSITIVE_INFINITY : this.emptyAt - now
  }

  remaining(quota: Quota, now: number): number {
    return Math.max(0, quota.limit - this.#usedAt(now))
  }

  resetMs(_quota: Quota, now: number): number {
    return this.#usedAt(now) > 0 ? this.emptyAt - now : 0
  }

  /** There is nothing to forget: the next consumption begins another window. */
  drain(): void {}

  consume(quota: Quota, cost: number, now: number): void {
    if (now >= this.emptyAt) {
      this.#start = now
      this.#used = 0
      this.emptyAt = now + quota.windowMs
    }
    this.#used += cost
  }

  correct(_quota: Quota, more: number, at: number, now: number): void {
    // A window that is over has no part in what comes after it.
    if (this.#start <= at && now < this.emptyAt) this.#used = Math.max(0, this.#used + more)
  }

  #usedAt(now: number): number {
    return now < this.emptyAt ? this.#used : 0
  }
}
