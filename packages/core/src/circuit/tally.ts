import type { Tally, WindowCounters } from '@tidegate/contract'

export const NO_COUNTERS: WindowCounters = {
  successes: 0,
  failures: 0,
  slow: 0,
  consecutiveFailures: 0,
  reporters: 0,
}

/** Outcomes of calls since the store was last told. The only thing a healthy call writes to. */
export class OpenTally {
  successes = 0
  failures = 0
  slow = 0
  trailingFailures = 0
  /** When the first of them came, by the instance's clock. */
  since = 0

  get isEmpty(): boolean {
    return this.successes === 0 && this.failures === 0
  }

  /** @param at by the instance's clock */
  add(isFailure: boolean, isSlow: boolean, at: number): void {
    if (this.isEmpty) this.since = at
    if (isFailure) {
      this.failures++
      this.trailingFailures++
    } else {
      this.successes++
      this.trailingFailures = 0
    }
    if (isSlow) this.slow++
  }

  /** Adds what came after. */
  addTally(later: Omit<Tally, 'seq'>, at: number): void {
    if (this.isEmpty) this.since = at
    this.trailingFailures = trailing(this.trailingFailures, later)
    this.successes += later.successes
    this.failures += later.failures
    this.slow += later.slow
  }

  take(seq: number): Tally {
    const { successes, failures, slow, trailingFailures } = this
    this.clear()
    return { seq, successes, failures, slow, trailingFailures }
  }

  clear(): void {
    this.successes = this.failures = this.slow = this.trailingFailures = 0
  }
}

/** What the fleet's counters come to with a tally that the store has not seen: an estimate, to know when to ask. */
export function withTally(counters: WindowCounters, tally: Omit<Tally, 'seq'>): WindowCounters {
  return {
    successes: counters.successes + tally.successes,
    failures: counters.failures + tally.failures,
    slow: counters.slow + tally.slow,
    consecutiveFailures: trailing(counters.consecutiveFailures, tally),
    reporters: counters.reporters,
  }
}

/** What the fleet has not told the store either, if everybody saw what this instance saw. */
export function timesFleet(tally: Omit<Tally, 'seq'>, fleet: number): Omit<Tally, 'seq'> {
  return {
    successes: tally.successes * fleet,
    failures: tally.failures * fleet,
    slow: tally.slow * fleet,
    trailingFailures: tally.trailingFailures * fleet,
  }
}

function trailing(before: number, later: Omit<Tally, 'seq'>): number {
  return later.successes === 0 ? before + later.failures : later.trailingFailures
}
