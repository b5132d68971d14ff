import type { Tally } from '@tidegate/contract'

/** Failures since the last success, after a tally that came when there were `run` of them. */
export function runAfter(run: number, tally: Tally): number {
  return tally.successes === 0 ? run + tally.failures : tally.trailingFailures
}
