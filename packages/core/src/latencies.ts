/** Steps per doubling: the middle of a step is within an eighth of all that falls into it. */
const STEPS = 4
const DOUBLINGS = 20
/** Durations are counted in sixteenths of a millisecond, so that the first steps are below a tenth of one. */
const UNITS_PER_MS = 16
const FULL = 65_535
const LONGEST = 2 ** (DOUBLINGS + 1) - 1

/**
 * Durations in fixed memory: a histogram whose steps grow by about a fifth, from
 * 0.06 ms to 131 s. Functions on the bare array, for there is one of it a breaker.
 */
export type Latencies = Uint16Array

export function newLatencies(): Latencies {
  return new Uint16Array(STEPS * DOUBLINGS)
}

export function addLatency(latencies: Latencies, durationMs: number): void {
  const index = stepOf(durationMs)
  if (latencies[index] === FULL) halveLatencies(latencies)
  latencies[index] = (latencies[index] ?? 0) + 1
}

/** Done from time to time, so that the present outweighs the past. */
export function halveLatencies(latencies: Latencies): void {
  for (let index = 0; index < latencies.length; index++) latencies[index] = (latencies[index] ?? 0) >> 1
}

/**
 * The durations below which these shares of the calls stayed, in ms; undefined without calls.
 *
 * @param shares from 0 to 1
 */
export function quantiles(latencies: Latencies, shares: readonly number[]): (number | undefined)[] {
  let total = 0
  for (const count of latencies) total += count
  return shares.map((share) => (total === 0 ? undefined : quantile(latencies, share * total)))
}

function quantile(latencies: Latencies, rank: number): number {
  let seen = 0
  for (let index = 0; index < latencies.length; index++) {
    seen += latencies[index] ?? 0
    if (seen >= rank && seen > 0) return (lowerBound(index) + lowerBound(index + 1)) / 2 / UNITS_PER_MS
  }
  return lowerBound(latencies.length) / UNITS_PER_MS
}

/** The step a duration falls in: its highest bit says the doubling, the next two the step within it. */
function stepOf(durationMs: number): number {
  const units = Math.min(Math.max(0, durationMs * UNITS_PER_MS), LONGEST) | 0
  if (units < STEPS) return units
  const doubling = 31 - Math.clz32(units)
  return (doubling - 1) * STEPS + ((units >> (doubling - 2)) & (STEPS - 1))
}

function lowerBound(index: number): number {
  if (index < STEPS) return index
  const doubling = Math.floor(index / STEPS) + 1
  return 2 ** doubling + (index % STEPS) * 2 ** (doubling - 2)
}
