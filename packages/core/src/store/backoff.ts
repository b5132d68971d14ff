const FIRST_MS = 100
/** An answer is asked for at least this often, so that a store that is back is taken up within 2 s. */
const LONGEST_MS = 1_000

/** Waits that double from a tenth of a second to a second, each shortened by chance by up to a half. */
export class Backoff {
  #failures = 0
  retryAt: number = Number.NEGATIVE_INFINITY

  get isWaiting(): boolean {
    return this.#failures > 0
  }

  /** @param random from 0 to below 1 */
  fail(now: number, random: number): void {
    // The exponent is bounded: an outage may last for days.
    const wait = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(this.#failures, 10))
    this.#failures++
    this.retryAt = now + wait * (1 - random / 2)
  }

  /** Somebody tries; whoever else waits, waits for what becomes of it. */
  claim(until: number): void {
    if (this.isWaiting) this.retryAt = until
  }

  clear(): void {
    this.#failures = 0
    this.retryAt = Number.NEGATIVE_INFINITY
  }
}
