import { ALL_PARTS, type Harness, type Part, type Runner } from './harness'
import { type LeftOut, layOut, layOutMissing, missing } from './lay-out'
import { PARTS, TOGETHER } from './parts'

const TITLES: Readonly<Record<Part, string>> = {
  circuits: 'the contract of circuits',
  limits: 'the contract of limits',
  leases: 'the contract of leases',
  cache: 'the contract of the cache',
}

/**
 * Lays out the contract of a circuit store as tests of this runner.
 *
 * What the store declares it cannot do, and what needs a hook that the harness
 * does not have, is left out: it shows as a test of its own (skipped, where the
 * runner can skip), and is printed once.
 */
export function circuitConformance(runner: Runner, harness: Harness): void {
  layOut(runner, harness, TITLES.circuits, PARTS.circuits)
}

/** Lays out the contract of a limit store, as {@link circuitConformance} does that of circuits. */
export function limitConformance(runner: Runner, harness: Harness): void {
  layOut(runner, harness, TITLES.limits, PARTS.limits)
}

/** Lays out the contract of a lease store, as {@link circuitConformance} does that of circuits. */
export function leaseConformance(runner: Runner, harness: Harness): void {
  layOut(runner, harness, TITLES.leases, PARTS.leases)
}

/** Lays out the contract of a cache store, as {@link circuitConformance} does that of circuits. */
export function cacheConformance(runner: Runner, harness: Harness): void {
  layOut(runner, harness, TITLES.cache, PARTS.cache)
}

/** All of these, for the parts that the harness says its store has. What it has not shows as left out. */
export function storeConformance(runner: Runner, harness: Harness): void {
  const parts = harness.parts ?? ALL_PARTS
  layOut(runner, harness, 'the parts of a store', TOGETHER)
  for (const part of ALL_PARTS) {
    if (parts.includes(part)) layOut(runner, harness, TITLES[part], PARTS[part])
    else layOutMissing(runner, harness, TITLES[part], part)
  }
}

/** What is left out for this harness, of these parts. */
export function leftOut(harness: Harness, parts: readonly Part[] = ['circuits']): readonly LeftOut[] {
  return parts.flatMap((part) => missing(harness, PARTS[part]))
}

/** The hook `advance` of a store whose time is real: waits, a little longer than `ms`. */
export function realTime(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.ceil(ms) + 2))
}
