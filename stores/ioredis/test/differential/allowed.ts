import type { CircuitWindow, WindowCounters } from '@tidegate/contract'

/*
 * Where the two stores differ, and may:
 *
 * - Nobody says since when a window counts that was asked for after the period began.
 *   In memory it is since then. In Redis it is since then for the outcomes of a time
 *   window; its reporters, and all of a consecutive window, are since the period began.
 * - In memory four windows of either kind are kept, in Redis four of time beside the
 *   consecutive one.
 * - A clock that is set back stands still in memory until it has caught up, and goes on
 *   from where it was in Redis. It is not set back here.
 * - When a circuit is gone is a matter of Redis' own expiry, in real time: see keys.test.ts.
 */

/** What of the counters must be the same, and what Redis may know more of. */
export interface Comparison {
  readonly same: readonly (keyof WindowCounters)[]
  readonly atLeast: readonly (keyof WindowCounters)[]
}

const ALL = ['successes', 'failures', 'slow', 'consecutiveFailures', 'reporters'] as const

/** @param isWhole whether the window has been counted in since the period began */
export function comparisonOf(window: CircuitWindow, isWhole: boolean): Comparison {
  if (isWhole) return { same: ALL, atLeast: [] }
  if (window.kind === 'consecutive') return { same: [], atLeast: ALL }
  return { same: ['successes', 'failures', 'slow', 'consecutiveFailures'], atLeast: ['reporters'] }
}
