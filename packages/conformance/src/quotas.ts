import type { LimitAlgorithm, Quota } from '@tidegate/contract'
import type { Bench } from './bench'
import { type Case, type Need, test } from './case'

const ALGORITHMS: readonly LimitAlgorithm[] = ['gcra', 'sliding-window', 'fixed-window']

/** Too long for anything to come back during a case that does not wait for it. */
export const LONG_MS = 3_600_000

/** Ten in a long time, unless the case says otherwise. */
export function quotaOf(algorithm: LimitAlgorithm, over: Partial<Quota> = {}): Quota {
  return { name: 'quota', algorithm, limit: 10, windowMs: LONG_MS, ...over }
}

/** The same case once for each algorithm: what it says holds for all of them. */
export function byEach(
  title: string,
  needs: readonly Need[],
  run: (bench: Bench, algorithm: LimitAlgorithm) => Promise<void>,
): readonly Case[] {
  return ALGORITHMS.map((algorithm) =>
    test(`${title}, by ${algorithm}`, needs, (bench) => run(bench, algorithm)),
  )
}
