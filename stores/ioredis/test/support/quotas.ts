import type { LimitAlgorithm, Quota } from '@tidegate/contract'

export const ALGORITHMS: readonly LimitAlgorithm[] = ['gcra', 'sliding-window', 'fixed-window']

/** Ten a minute, if nothing else is said. */
export function quota(over: Partial<Quota> = {}): Quota {
  return { name: 'q', algorithm: 'gcra', limit: 10, windowMs: 60_000, ...over }
}
