import type { CircuitSnapshot, CircuitState, Tally, WindowCounters } from '@tidegate/contract'
import { NO_COUNTERS, timesFleet, withTally } from './tally'

/*
 * The circuit, on one screen. Who moves it, and under which fence:
 *
 *   closed ----- the window is bad enough: anyone, under the fence of the calls ----> open
 *   open ------- cooldown over: one caller, who gets the permit --------------------> half-open
 *   half-open -- probe failed, or one more came to no evidence:
 *                the permit's holder, under the permit's fence ----------------------> open
 *   half-open -- enough probes succeeded: the same ----------------------------------> closed
 *   half-open -- probe succeeded, more are asked for; or it is no evidence:
 *                the same, giving the permit back ------------------------------------> half-open
 *   half-open -- permit lies free, or its lease ran out: anyone takes it -----------> half-open
 *   any -------- isolate, by an operator ---------------------------------------------> isolated
 *   isolated --- restore, by an operator ---------------------------------------------> closed
 *   any other -- reset, by an operator -----------------------------------------------> closed
 *
 * Each arrow mints a fence. The store lets it land only while the circuit is
 * still where its caller saw it, in the very period in which its caller saw it.
 */

/** What becomes of a call. */
export type Admission =
  | { readonly go: 'pass' }
  | { readonly go: 'claim' }
  | { readonly go: 'reject'; readonly retryAfterMs: number | undefined }

/** @param now by the store's clock, epoch ms */
export function admission(snapshot: CircuitSnapshot, now: number): Admission {
  switch (snapshot.state) {
    case 'closed':
      return { go: 'pass' }
    case 'open': {
      const left = (snapshot.probeAfter ?? now) - now
      return left > 0 ? { go: 'reject', retryAfterMs: left } : { go: 'claim' }
    }
    case 'half-open':
      // When the probe out there will settle nobody knows; its lease says only when it must have.
      return snapshot.probe !== undefined && snapshot.probe.until > now
        ? { go: 'reject', retryAfterMs: undefined }
        : { go: 'claim' }
    case 'isolated':
      return { go: 'reject', retryAfterMs: undefined }
  }
}

/** How a call came out. `none`: it is no evidence of how the dependency is. */
export type Outcome = 'success' | 'failure' | 'none'

export interface Verdict {
  readonly to: CircuitState
  readonly yield?: true
  readonly succeeded?: true
}

/** Gives the permit back. */
export const YIELD: Verdict = { to: 'half-open', yield: true }

/**
 * Probes in a row that may come to no evidence before the next such end opens the
 * circuit again. Whoever comes next probes at once, so without a bound a dependency
 * that hangs while its callers lose patience would be called without a cooldown, for ever.
 */
const PROBES_WITHOUT_EVIDENCE = 3

/** What the probes of a recovery came to before. */
export interface Recovery {
  /** The fleet's, in a row. */
  readonly probeSuccesses: number
  /** This instance's, in a row. */
  readonly withoutEvidence: number
}

/** What a settled probe does to the circuit. */
export function verdict(outcome: Outcome, before: Recovery, successThreshold: number): Verdict {
  if (outcome === 'failure') return { to: 'open' }
  if (outcome === 'none') return before.withoutEvidence < PROBES_WITHOUT_EVIDENCE ? YIELD : { to: 'open' }
  return before.probeSuccesses + 1 >= successThreshold
    ? { to: 'closed' }
    : { to: 'half-open', yield: true, succeeded: true }
}

/** When the window is bad enough. */
export type TripRule =
  | { readonly kind: 'consecutive'; readonly failures: number }
  | {
      readonly kind: 'rate'
      readonly failureRate: number
      readonly slowRate: number | undefined
      readonly minimumCalls: number
    }

export function isTripped(counters: WindowCounters, rule: TripRule): boolean {
  if (rule.kind === 'consecutive') return counters.consecutiveFailures >= rule.failures
  const calls = counters.successes + counters.failures
  if (calls < rule.minimumCalls) return false
  // Divided, for 0.55 * 100 is a little more than 55; 55 / 100 is what 0.55 is, to the last bit.
  return (
    counters.failures / calls >= rule.failureRate ||
    (rule.slowRate !== undefined && counters.slow / calls >= rule.slowRate)
  )
}

/**
 * Whether a trip may be near, for all that this instance knows: what it has not told
 * yet is bad by itself, or would be enough if everybody saw the same. What it takes is
 * spread over the fleet, and seen by nobody before all have told.
 *
 * @param untold outcomes that the store has not seen
 * @param counters those it has
 */
export function isTripNear(
  counters: WindowCounters,
  untold: Omit<Tally, 'seq'>,
  fleet: number,
  rule: TripRule,
): boolean {
  if (rule.kind === 'rate' && isTripped(withTally(NO_COUNTERS, untold), { ...rule, minimumCalls: 1 }))
    return true
  return isTripped(withTally(counters, timesFleet(untold, fleet)), rule)
}

export interface CooldownRule {
  readonly cooldownMs: number
  /** Share of the cooldown that chance may add, so that circuits that opened together probe apart. */
  readonly jitter: number
  /** The cooldown grows by this with each open period in a row, up to the bound. */
  readonly backoff: { readonly factor: number; readonly maxMs: number }
}

/**
 * How long the circuit is to stay open, in whole ms.
 *
 * @param trips open periods in a row before this one
 * @param random from 0 to below 1
 */
export function cooldownMsFor(rule: CooldownRule, trips: number, random: number): number {
  const grown = Math.min(rule.cooldownMs * rule.backoff.factor ** trips, rule.backoff.maxMs)
  return Math.ceil(grown * (1 + rule.jitter * random))
}
