import type { CircuitWindow, Tally, WindowCounters } from '@tidegate/contract'
import { Reporters } from './reporters'
import { runAfter } from './run'
import type { Counting } from './window'

const FAILED = 1
const SLOW = 2
const SMALLEST_RING = 16

/** The last `calls` outcomes, in a ring that grows to its size as it fills. */
export class CountWindow implements Counting {
  readonly shape: CircuitWindow
  readonly #calls: number
  #reporters: Reporters | undefined
  #ring: Uint8Array
  /** Outcomes ever added; the next one's place is this modulo the size of the ring. */
  #added = 0
  #failures = 0
  #slow = 0
  #run = 0

  constructor(calls: number) {
    this.shape = { kind: 'count', calls }
    this.#calls = calls
    this.#ring = new Uint8Array(Math.min(SMALLEST_RING, calls))
  }

  /**
   * A tally says in which order its outcomes came only as far as its trailing
   * failures: its other failures are taken to be the earliest, its slow ones the latest.
   */
  add(tally: Tally, instance: string): void {
    const { successes, failures, slow, trailingFailures } = tally
    const total = successes + failures
    const leading = failures - trailingFailures
    // Of more than the ring holds only the last can stay.
    const skipped = Math.max(0, total - this.#calls)
    const before = this.#added
    for (let index = skipped; index < total; index++) {
      const failed = index < leading || index >= leading + successes
      this.#push((failed ? FAILED : 0) | (index >= total - slow ? SLOW : 0))
    }
    this.#run = runAfter(this.#run, tally)
    if (failures === 0) return
    this.#reporters ??= new Reporters()
    const lastFailure = trailingFailures > 0 ? total - 1 : failures - 1
    this.#reporters.mark(instance, before - skipped + lastFailure)
  }

  counters(): WindowCounters {
    const size = Math.min(this.#added, this.#calls)
    return {
      successes: size - this.#failures,
      failures: this.#failures,
      slow: this.#slow,
      consecutiveFailures: Math.min(this.#run, this.#failures),
      reporters: this.#reporters?.count(this.#added - size) ?? 0,
    }
  }

  #push(outcome: number): void {
    if (this.#added === this.#ring.length && this.#added < this.#calls) this.#grow()
    const at = this.#added % this.#ring.length
    if (this.#added >= this.#calls) this.#weigh(this.#ring[at] ?? 0, -1)
    this.#ring[at] = outcome
    this.#weigh(outcome, 1)
    this.#added++
  }

  #weigh(outcome: number, by: 1 | -1): void {
    if (outcome & FAILED) this.#failures += by
    if (outcome & SLOW) this.#slow += by
  }

  #grow(): void {
    const ring = new Uint8Array(Math.min(2 * this.#ring.length, this.#calls))
    ring.set(this.#ring)
    this.#ring = ring
  }
}
