import type { MaybePromise } from './circuit'

/**
 * How a quota is kept. Over any span, by the store's clock in whole milliseconds:
 *
 * - `gcra`: at most `limit` x span / `windowMs` + `burst`, evenly spread. A level that
 *   each consumption raises and that sinks by `limit` a window.
 * - `sliding-window`: at most `limit` in any `windowMs`. Exact for what comes in a few
 *   moments of it; of more, what falls into one slice, a 32nd of the window, leaves
 *   together with the last of it, so that it errs low.
 * - `fixed-window`: at most `limit` in each window of its own, which begins with the
 *   first consumption after the one before; twice that across an edge.
 */
export type LimitAlgorithm = 'gcra' | 'sliding-window' | 'fixed-window'

export interface Quota {
  /** Names it in decisions; unlike that of any other quota of the same key. */
  readonly name: string
  readonly algorithm: LimitAlgorithm
  /** What may be consumed in a window. A whole number, at least 1. */
  readonly limit: number
  /** Whole milliseconds, at least 1. */
  readonly windowMs: number
  /** `gcra`: what may be consumed at once. A whole number, at least 1. @default limit */
  readonly burst?: number
}

export interface QuotaState {
  readonly name: string
  readonly limit: number
  /** What could be consumed now; at least 0. */
  readonly remaining: number
  /** How long until all of it could be consumed again, if nobody consumed meanwhile, in ms. */
  readonly resetMs: number
}

export interface LimitDecision {
  readonly allowed: boolean
  /** The names of the quotas that had too little left. */
  readonly violated: readonly string[]
  /** How long until the same would be allowed, if nobody else came, in ms; 0 where it is allowed, Infinity where it never is. */
  readonly retryAfterMs: number
  /** What `settle` takes; empty where it was denied, or only asked for. */
  readonly reservation: string
  /** In the order in which they were asked for; as they are after the consumption. */
  readonly quotas: readonly QuotaState[]
}

/**
 * Limits: how much of something a key may consume. Times come back as durations,
 * for two clocks agree on those.
 *
 * 1. A quota's state belongs to its key, its name, its algorithm and its `windowMs`:
 *    another `limit` or `burst` goes on with what was consumed, another window begins
 *    anew beside the old one, so that a fleet of two versions is limited by both.
 * 2. Time never runs backwards inside a key: what a clock is set back by is made up for
 *    from then on. The state carries its own stamps, so that a lost expiry blocks nobody.
 * 3. A command delivered twice consumes twice: it errs low, and never lets more through.
 */
export interface LimitStore {
  /**
   * All quotas or none, in one atomic step. What is denied consumes nothing.
   *
   * @param cost a whole number, at least 0; more than a quota can ever hold is always
   *   denied, and 0 only where a settled cost has taken more than there was
   */
  consume(key: string, quotas: readonly Quota[], cost: number): MaybePromise<LimitDecision>
  /** Whether a `consume` of a cost of 1 would be allowed, consuming nothing: the quotas as they are. */
  peek(key: string, quotas: readonly Quota[]): MaybePromise<LimitDecision>
  /**
   * The real cost of what was reserved, known later. The first settle of a reservation
   * counts (a store remembers the latest 1,024 of a key, and settles none that is older
   * than those), none after its window, none of a key that was reset or forgotten
   * since. What it gives back is never more than is still held of it: of `gcra`, what has
   * not drained since. What it takes beyond may leave less than nothing: a debt,
   * which has to be made up for before anything is allowed.
   *
   * @param quotas those of the consumption
   */
  settle(key: string, quotas: readonly Quota[], reservation: string, cost: number): MaybePromise<void>
  /** Forgets what exactly this key has consumed. */
  reset(key: string): MaybePromise<void>
}

/** At most so many quotas of one key at a time. */
export const MAX_QUOTAS = 8
/** Into so many slices a sliding window is cut. */
export const WINDOW_SLICES = 32
/** Of so many settled reservations of a key it is remembered that they are. */
export const MAX_SETTLED = 1_024

/** What a quota holds when nothing is consumed. */
export function capacityOf(quota: Quota): number {
  return quota.algorithm === 'gcra' ? (quota.burst ?? quota.limit) : quota.limit
}
