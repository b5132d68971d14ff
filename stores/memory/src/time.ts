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
 * Nor does time stand still until a clock that was set back has caught up: no
 * cooldown would end meanwhile, and no limit would give anything back.
 */
export class Time {
  readonly #clock: StoreClock
  #last = 0
  /** What the clock was set back by, all in all: made up for from then on. */
  #lag = 0
  // Over all names, and not in each: one that was forgotten or evicted comes back without its digits.
  #digits = 0

  constructor(clock: StoreClock) {
    this.#clock = clock
  }

  now(): number {
    const told = this.#clock.now()
    // A clock that tells no time for a moment must not stop this one for good.
    if (!Number.isFinite(told)) return this.#last
    const now = told + this.#lag
    if (now < this.#last) this.#lag = this.#last - told
    else this.#last = now
    return this.#last
  }

  /** For what is counted in whole ms, as limits, leases and ages are: then a wait that was told is exact. */
  wholeMs(): number {
    return Math.floor(this.now())
  }

  /** Now in microseconds, or later: greater than the digits of all fences and all that it gave before. */
  unique(now: number): number {
    this.#digits = Math.max(this.#digits + 1, Math.floor(now * 1000))
    return this.#digits
  }

  mint(now: number, nonce: string): Fence {
    const fence = mintFence(this.#digits, now * 1000, nonce)
    this.#digits = fenceDigits(fence)
    return fence
  }
}
