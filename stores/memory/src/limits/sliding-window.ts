import { type Quota, WINDOW_SLICES } from '@tidegate/contract'
import type { Meter } from './meter'

/** Where the count stands in an entry, after its stamp, and how long an entry is. */
const COUNT = 1
const WIDTH = 2

/**
 * What was consumed within the last window, in slices of it on a grid of the
 * store's time. A slice leaves a whole window after the latest consumption in it.
 */
export class SlidingWindow implements Meter {
  /** The latest stamp and the count of each slice that something fell into, the oldest first. */
  readonly #entries: number[] = []
  #sum = 0
  emptyAt = 0

  waitMs(quota: Quota, cost: number, now: number): number {
    this.drain(quota, now)
    const over = this.#sum + cost - quota.limit
    if (over <= 0) return 0
    if (cost > quota.limit) return Number.POSITIVE_INFINITY
    return this.#stampThatFrees(over) + quota.windowMs - now
  }

  remaining(quota: Quota, now: number): number {
    this.drain(quota, now)
    return Math.max(0, quota.limit - this.#sum)
  }

  resetMs(quota: Quota, now: number): number {
    this.drain(quota, now)
    // A slice that was given back whole stays for its stamp, and holds nothing.
    for (let at = this.#entries.length - WIDTH; at >= 0; at -= WIDTH) {
      if (this.#at(at + COUNT) > 0) return this.#at(at) + quota.windowMs - now
    }
    return 0
  }

  drain({ windowMs }: Quota, now: number): void {
    let gone = 0
    for (; gone < this.#entries.length && now - this.#at(gone) >= windowMs; gone += WIDTH) {
      this.#sum -= this.#at(gone + COUNT)
    }
    if (gone > 0) this.#entries.splice(0, gone)
  }

  consume(quota: Quota, cost: number, now: number): void {
    const last = this.#entries.length - WIDTH
    if (last >= 0 && sliceOf(this.#at(last), quota) === sliceOf(now, quota)) {
      this.#entries[last] = now
      this.#entries[last + COUNT] = this.#at(last + COUNT) + cost
    } else {
      this.#entries.push(now, cost)
    }
    this.#sum += cost
    this.emptyAt = now + quota.windowMs
  }

  correct(quota: Quota, more: number, at: number): void {
    const slice = sliceOf(at, quota)
    for (let entry = this.#entries.length - WIDTH; entry >= 0; entry -= WIDTH) {
      if (sliceOf(this.#at(entry), quota) !== slice) continue
      const before = this.#at(entry + COUNT)
      const after = Math.max(0, before + more)
      this.#entries[entry + COUNT] = after
      this.#sum += after - before
      return
    }
  }

  /** The stamp of the slice with which at least `count` has left. */
  #stampThatFrees(count: number): number {
    let freed = 0
    let entry = 0
    for (; entry < this.#entries.length - WIDTH; entry += WIDTH) {
      freed += this.#at(entry + COUNT)
      if (freed >= count) break
    }
    return this.#at(entry)
  }

  #at(index: number): number {
    return this.#entries[index] as number
  }
}

function sliceOf(moment: number, { windowMs }: Quota): number {
  // Multiplied first: a slice is often no number that is exact, and its edges would be off.
  return Math.floor((moment * WINDOW_SLICES) / windowMs)
}
