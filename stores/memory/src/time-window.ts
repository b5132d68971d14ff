import type { CircuitWindow, Tally, WindowCounters } from '@tidegate/contract'
import { Reporters } from './reporters'
import { runAfter } from './run'
import type { Counting } from './window'

/** The window is exact to a tenth of itself. */
const BUCKETS = 10

/**
 * The outcomes of the last `ms`, in buckets on a grid of the store's time. The
 * current bucket and those before it that lie wholly within the window count: an
 * outcome leaves when it is between nine and ten tenths of the window old.
 */
export class TimeWindow implements Counting {
  readonly shape: CircuitWindow
  readonly #buckets: number
  readonly #widthMs: number
  /** Successes, failures and slow ones of each bucket, by its number modulo the number of buckets. */
  readonly #counts: number[]
  readonly #reporters = new Reporters()
  #current = 0
  #run = 0

  constructor(ms: number) {
    this.shape = { kind: 'time', ms }
    // No clock tells less than a millisecond apart across a fleet.
    this.#buckets = Math.min(BUCKETS, ms)
    this.#widthMs = ms / this.#buckets
    this.#counts = new Array<number>(3 * this.#buckets).fill(0)
  }

  add(tally: Tally, instance: string, now: number): void {
    this.#advance(now)
    const at = 3 * (this.#current % this.#buckets)
    this.#add(at, tally.successes)
    this.#add(at + 1, tally.failures)
    this.#add(at + 2, tally.slow)
    this.#run = runAfter(this.#run, tally)
    if (tally.failures > 0) this.#reporters.mark(instance, this.#current)
  }

  counters(now: number): WindowCounters {
    this.#advance(now)
    const [successes, failures, slow] = [this.#sum(0), this.#sum(1), this.#sum(2)]
    // The run is the latest of the failures: what is left of it in the window is what is left of them.
    const consecutiveFailures = Math.min(this.#run, failures)
    const reporters = this.#reporters.count(this.#current - this.#buckets + 1)
    return { successes, failures, slow, consecutiveFailures, reporters }
  }

  /** Goes to the bucket of now, and empties those whose places come into use again. */
  #advance(now: number): void {
    const bucket = Math.floor(now / this.#widthMs)
    const stale = Math.min(bucket - this.#current, this.#buckets)
    for (let passed = 0; passed < stale; passed++) {
      const at = 3 * ((bucket - passed) % this.#buckets)
      this.#counts.fill(0, at, at + 3)
    }
    if (stale === this.#buckets) this.#run = 0
    this.#current = bucket
  }

  #add(at: number, outcomes: number): void {
    this.#counts[at] = (this.#counts[at] ?? 0) + outcomes
  }

  #sum(of: number): number {
    let sum = 0
    for (let at = of; at < this.#counts.length; at += 3) sum += this.#counts[at] ?? 0
    return sum
  }
}
