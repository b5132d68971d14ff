import { capacityOf, type Quota, WINDOW_SLICES } from '@tidegate/contract'

/*
 * What a quota has consumed, as the rules put it and no faster: a test's own idea of
 * them, to compare a store with. Moments are whole ms.
 */

export interface Slot {
  /** When it is as if nothing had been consumed, if nobody consumed any more. */
  endsAt(): number
  fits(quota: Quota, cost: number, now: number): boolean
  /** How long until a cost fits that does not. */
  wait(quota: Quota, cost: number, now: number): number
  consume(quota: Quota, cost: number, now: number): void
  /** Takes note of what time has made of it, by the limit of who asks. */
  drain(quota: Quota, now: number): void
  remaining(quota: Quota, now: number): number
  resetMs(quota: Quota, now: number): number
  settle(quota: Quota, at: number, difference: number, now: number): void
}

export function slotOf(quota: Quota): Slot {
  if (quota.algorithm === 'gcra') return new Level(quota)
  return quota.algorithm === 'sliding-window' ? new Log(quota) : new Window(quota)
}

class Level implements Slot {
  #limit: number
  #at = 0
  #used = 0

  constructor({ limit }: Quota) {
    this.#limit = limit
  }

  endsAt(): number {
    return this.#at + Math.ceil(this.#used / this.#limit)
  }

  fits(quota: Quota, cost: number, now: number): boolean {
    return this.#level(quota, now) + cost * quota.windowMs <= capacityOf(quota) * quota.windowMs
  }

  wait(quota: Quota, cost: number, now: number): number {
    const over = this.#level(quota, now) + cost * quota.windowMs - capacityOf(quota) * quota.windowMs
    return Math.ceil(over / quota.limit)
  }

  consume(quota: Quota, cost: number, now: number): void {
    this.#set(quota, this.#level(quota, now) + cost * quota.windowMs, now)
  }

  drain(quota: Quota, now: number): void {
    this.#set(quota, this.#level(quota, now), now)
  }

  remaining(quota: Quota, now: number): number {
    const room = capacityOf(quota) * quota.windowMs - this.#level(quota, now)
    return Math.max(0, Math.floor(room / quota.windowMs))
  }

  resetMs(quota: Quota, now: number): number {
    return Math.ceil(this.#level(quota, now) / quota.limit)
  }

  settle(quota: Quota, at: number, difference: number, now: number): void {
    const change =
      difference > 0
        ? difference * quota.windowMs
        : -Math.max(0, -difference * quota.windowMs - (now - at) * quota.limit)
    this.#set(quota, Math.max(0, this.#level(quota, now) + change), now)
  }

  #level(quota: Quota, now: number): number {
    return Math.max(0, this.#used - (now - this.#at) * quota.limit)
  }

  #set(quota: Quota, used: number, now: number): void {
    this.#limit = quota.limit
    this.#used = used
    this.#at = now
  }
}

class Log implements Slot {
  readonly #windowMs: number
  #slices: { stamp: number; count: number }[] = []

  constructor({ windowMs }: Quota) {
    this.#windowMs = windowMs
  }

  endsAt(): number {
    return (this.#slices.at(-1)?.stamp ?? -this.#windowMs) + this.#windowMs
  }

  fits(quota: Quota, cost: number, now: number): boolean {
    return this.#sum(now) + cost <= quota.limit
  }

  wait(quota: Quota, cost: number, now: number): number {
    const slices = this.#present(now)
    for (let gone = 1; gone <= slices.length; gone++) {
      const left = slices.slice(gone).reduce((sum, { count }) => sum + count, 0)
      if (left + cost <= quota.limit) return (slices[gone - 1]?.stamp ?? 0) + this.#windowMs - now
    }
    throw new Error('it never fits')
  }

  consume(_: Quota, cost: number, now: number): void {
    this.#slices = this.#present(now)
    const same = this.#slices.find(({ stamp }) => this.#slice(stamp) === this.#slice(now))
    if (same === undefined) this.#slices.push({ stamp: now, count: cost })
    else Object.assign(same, { stamp: now, count: same.count + cost })
  }

  drain(): void {}

  remaining(quota: Quota, now: number): number {
    return Math.max(0, quota.limit - this.#sum(now))
  }

  resetMs(_: Quota, now: number): number {
    const last = this.#present(now).findLast(({ count }) => count > 0)
    return last === undefined ? 0 : last.stamp + this.#windowMs - now
  }

  settle(_: Quota, at: number, difference: number, now: number): void {
    const slice = this.#present(now).find(({ stamp }) => this.#slice(stamp) === this.#slice(at))
    if (slice !== undefined) slice.count = Math.max(0, slice.count + difference)
  }

  #present(now: number): { stamp: number; count: number }[] {
    return this.#slices.filter(({ stamp }) => now - stamp < this.#windowMs)
  }

  #sum(now: number): number {
    return this.#present(now).reduce((sum, { count }) => sum + count, 0)
  }

  #slice(time: number): number {
    return Math.floor((time * WINDOW_SLICES) / this.#windowMs)
  }
}

class Window implements Slot {
  readonly #windowMs: number
  #window: { readonly start: number; readonly used: number } | undefined

  constructor({ windowMs }: Quota) {
    this.#windowMs = windowMs
  }

  endsAt(): number {
    return this.#window === undefined ? 0 : this.#window.start + this.#windowMs
  }

  fits(quota: Quota, cost: number, now: number): boolean {
    return this.#used(now) + cost <= quota.limit
  }

  wait(_: Quota, __: number, now: number): number {
    return this.endsAt() - now
  }

  consume(_: Quota, cost: number, now: number): void {
    this.#window = { start: this.#present(now)?.start ?? now, used: this.#used(now) + cost }
  }

  drain(): void {}

  remaining(quota: Quota, now: number): number {
    return Math.max(0, quota.limit - this.#used(now))
  }

  resetMs(quota: Quota, now: number): number {
    return this.#used(now) > 0 ? this.wait(quota, 0, now) : 0
  }

  settle(_: Quota, at: number, difference: number, now: number): void {
    const window = this.#present(now)
    if (window === undefined || window.start > at) return
    this.#window = { start: window.start, used: Math.max(0, window.used + difference) }
  }

  #used(now: number): number {
    return this.#present(now)?.used ?? 0
  }

  #present(now: number): { readonly start: number; readonly used: number } | undefined {
    return now < this.endsAt() ? this.#window : undefined
  }
}
