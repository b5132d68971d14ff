import type { CircuitWindow, Tally, WindowCounters } from '@tidegate/contract'
import { Reporters } from './reporters'
import { runAfter } from './run'
import type { Counting } from './window'

/** The window is exact to a tenth of itself. */
const BUCKETS = 10

/** What stands where in a bucket's entry, and how long that is. */
const SUCCESSES = 1
const FAILURES = 2
const SLOW = 3
const WIDTH = 4

/**
 * The outcomes of the last `ms`, in buckets on a grid of the store's time. The
 * current bucket and those before it that lie wholly within the window count: an
 * outcome leaves when it is between nine and ten tenths of the window old.
 */
export class TimeWindow implements Counting {
  readonly shape: CircuitWindow
  readonly #ms: number
  readonly #buckets: number
  /** Number, successes, failures and slow ones of each bucket that something fell into, the earliest first. */
  #counts: number[] = []
  #reporters: Reporters | undefined
  #run = 0

  constructor(ms: number) {
    this.shape = { kind: 'time', ms }
    // No clock tells less than a millisecond apart across a fleet.
    this.#buckets = Math.min(BUCKETS, ms)
    this.#ms = ms
  }

  add(tally: Tally, instance: string, now: number): void {
    const bucket = this.#bucketOf(now)
    this.#forget(bucket)
    let at = this.#counts.length - WIDTH
    if (at < 0 || this.#counts[at] !== bucket) {
      at += WIDTH
      this.#counts = [...this.#counts, bucket, 0, 0, 0]
    }
    this.#add(at + SUCCESSES, tally.successes)
    this.#add(at + FAILURES, tally.failures)
    this.#add(at + SLOW, tally.slow)
    this.#run = runAfter(this.#run, tally)
    if (tally.failures === 0) return
    this.#reporters ??= new Reporters()
    this.#reporters.mark(instance, bucket)
  }

  counters(now: number): WindowCounters {
    const bucket = this.#bucketOf(now)
    this.#forget(bucket)
    const [successes, failures, slow] = [this.#sum(SUCCESSES), this.#sum(FAILURES), this.#sum(SLOW)]
    // The run is the latest of the failures: what is left of it in the window is what is left of them.
    const consecutiveFailures = Math.min(this.#run, failures)
    const reporters = this.#reporters?.count(bucket - this.#buckets + 1) ?? 0
    return { successes, failures, slow, consecutiveFailures, reporters }
  }

  #bucketOf(now: number): number {
    // Multiplied first: a tenth of the window is often no number that is exact, and its edges would be off.
    return Math.floor((now * this.#buckets) / this.#ms)
  }

  /** Drops the buckets that the window has left behind. */
  #forget(bucket: number): void {
    let gone = 0
    while (gone < this.#counts.length && (this.#counts[gone] ?? 0) <= bucket - this.#buckets) gone += WIDTH
    if (gone > 0) this.#counts = this.#counts.slice(gone)
  }

  #add(at: number, outcomes: number): void {
    this.#counts[at] = (this.#counts[at] ?? 0) + outcomes
  }

  #sum(of: number): number {
    let sum = 0
    for (let at = of; at < this.#counts.length; at += WIDTH) sum += this.#counts[at] ?? 0
    return sum
  }
}
