import { capacityOf, type Quota } from '@tidegate/contract'
import type { Meter } from './meter'

/**
 * A level that each consumption raises and that sinks by `limit` a window. It is
 * kept times the window: then it sinks by `limit` a millisecond, in whole numbers,
 * and no wait is off by what was rounded.
 */
export class Gcra implements Meter {
  #level = 0
  #at = 0
  emptyAt = 0

  waitMs(quota: Quota, cost: number, now: number): number {
    const over = this.#levelAt(quota, now) + (cost - capacityOf(quota)) * quota.windowMs
    if (over <= 0) return 0
    return cost > capacityOf(quota) ? Number.POSITIVE_INFINITY : Math.ceil(over / quota.limit)
  }

  remaining(quota: Quota, now: number): number {
    const spare = capacityOf(quota) * quota.windowMs - this.#levelAt(quota, now)
    return Math.max(0, Math.floor(spare / quota.windowMs))
  }

  resetMs(quota: Quota, now: number): number {
    return Math.ceil(this.#levelAt(quota, now) / quota.limit)
  }

  drain(quota: Quota, now: number): void {
    this.#set(quota, this.#levelAt(quota, now), now)
  }

  consume(quota: Quota, cost: number, now: number): void {
    this.#set(quota, this.#levelAt(quota, now) + cost * quota.windowMs, now)
  }

  correct(quota: Quota, more: number, at: number, now: number): void {
    const { limit, windowMs } = quota
    // All that has drained since is taken to be of what comes back: that cannot be given back twice.
    const drained = Math.max(0, now - at) * limit
    const change = more > 0 ? more * windowMs : -Math.max(0, -more * windowMs - drained)
    this.#set(quota, Math.max(0, this.#levelAt(quota, now) + change), now)
  }

  #levelAt({ limit }: Quota, now: number): number {
    return Math.max(0, this.#level - (now - this.#at) * limit)
  }

  #set({ limit }: Quota, level: number, now: number): void {
    this.#level = level
    this.#at = now
    this.emptyAt = now + Math.ceil(level / limit)
  }
}
