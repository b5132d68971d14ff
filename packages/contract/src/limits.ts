import type { MaybePromise } from './circuit'

/**
 * How a quota is kept, over any span:
 *
 * - `gcra`: at most `limit` x span / `windowMs` + `burst`, evenly spread; one number a key.
 * - `sliding-window`: at most `limit` in any `windowMs`, exactly or erring low.
 * - `fixed-window`: at most `limit` in each window of its own; twice that across an edge.
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
  /** What could be consumed now. */
  readonly remaining: number
  /** How long until all of it could be consumed again, in ms. */
  readonly resetMs: number
}

export interface LimitDecision {
  readonly allowed: boolean
  /** The names of the quotas that had too little left. */
  readonly violated: readonly string[]
  /** How long until the same would be allowed, if nobody else came, in ms; 0 where it is allowed. */
  readonly retryAfterMs: number
  /** What `settle` takes; empty where nothing was consumed. */
  readonly reservation: string
  /** In the order in which they were asked for. */
  readonly quotas: readonly QuotaState[]
}

/**
 * Limits: how much of something a key may consume. Times come back as durations,
 * for two clocks agree on those. Time never runs backwards inside a key; its state
 * carries its own stamps, so that a lost expiry blocks nobody.
 */
export interface LimitStore {
  /**
   * All quotas or none, in one atomic step. What is denied consumes nothing.
   *
   * @param cost a whole number, at least 0; more than a quota can ever hold is always denied
   */
  consume(key: string, quotas: readonly Quota[], cost: number): MaybePromise<LimitDecision>
  /** What `consume` would say of a cost of 1, consuming nothing. */
  peek(key: string, quotas: readonly Quota[]): MaybePromise<LimitDecision>
  /**
   * The real cost of what was reserved, known later. The first settle of a
   * reservation counts, and none after its window.
   */
  settle(key: string, quotas: readonly Quota[], reservation: string, cost: number): MaybePromise<void>
  /** Forgets what exactly this key has consumed. */
  reset(key: string): MaybePromise<void>
}
