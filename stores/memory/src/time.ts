import { type Fence, fenceDigits, mintFence } from '@tidegate/contract'

/** Where the store takes its time from: epoch milliseconds, fractions allowed. */
export interface StoreClock {
  now(): number
}

/** Monotonic: a wall clock that is set while the process runs does not move it. */
export const systemClock: StoreClock = { now: () => performance.timeOrigin + performance.now() }

/**
 * The store's time, and the fences made of it. Neither ever goes back, whatever
 * the clock does: a lease that lapsed would be live again, a fence would come twice.
 */
export class Time {
  readonly #clock: StoreClock
  #last = 0
  // Over all circuits, and not in each: one that was forgotten or evicted comes back without its digits.
  #digits = 0

  constructor(clock: StoreClock) {
    this.#clock = clock
  }

  now(): number {
    const now = this.#clock.now()
    if (now > this.#last) this.#last = now
    return this.#last
  }

  mint(now: number, nonce: string): Fence {
    const fence = mintFence(this.#digits, now * 1000, nonce)
    this.#digits = fenceDigits(fence)
    return fence
  }
}
