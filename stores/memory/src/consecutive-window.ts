import type { CircuitWindow, Tally, WindowCounters } from '@tidegate/contract'
import { Reporters } from './reporters'
import { runAfter } from './run'
import type { Counting } from './window'

/**
 * The failures since the last success, in the order in which tallies arrive. The
 * other counters are the period's: a run without an end has no calls to take them from.
 */
export class ConsecutiveWindow implements Counting {
  readonly shape: CircuitWindow = { kind: 'consecutive' }
  #reporters: Reporters | undefined
  #successes = 0
  #failures = 0
  #slow = 0
  #run = 0
  /** Which run this is: a success begins another one, and only those who failed in it report. */
  #runs = 0

  add(tally: Tally, instance: string): void {
    this.#successes += tally.successes
    this.#failures += tally.failures
    this.#slow += tally.slow
    this.#run = runAfter(this.#run, tally)
    if (tally.successes > 0) this.#runs++
    if (tally.trailingFailures === 0) return
    this.#reporters ??= new Reporters()
    this.#reporters.mark(instance, this.#runs)
  }

  counters(): WindowCounters {
    return {
      successes: this.#successes,
      failures: this.#failures,
      slow: this.#slow,
      consecutiveFailures: this.#run,
      reporters: this.#reporters?.count(this.#runs) ?? 0,
    }
  }
}
