import type { Fence } from './fence'

/** A method of a store may answer at once or later. */
export type MaybePromise<T> = T | Promise<T>

export type CircuitState = 'closed' | 'open' | 'half-open' | 'isolated'

/** A circuit at one moment of its store's clock. All moments are epoch milliseconds by that clock. */
export interface CircuitSnapshot {
  readonly state: CircuitState
  /** Names the period; a later period's compares greater. */
  readonly fence: Fence
  /** When the circuit opened; set while open, kept while half-open. */
  readonly openedAt?: number
  /** When probing may start: `openedAt` + the cooldown that the tripping swap brought. */
  readonly probeAfter?: number
  /** Open periods in a row; 0 while there is none, and again once the circuit stayed closed for a window. */
  readonly trips: number
  /** The permit that is out; only ever while half-open. */
  readonly probe?: { readonly owner: string; readonly until: number }
  /** Successful probes in this recovery; 0 when half-open begins from open. */
  readonly probeSuccesses: number
  /** Instances that touched the circuit within the longer of its window and 60 s. */
  readonly fleet: number
  /** When this was taken. */
  readonly now: number
}

/**
 * What counts as the present.
 *
 * - `time`: outcomes of the last `ms`, exact to a tenth of it and never older than it.
 * - `consecutive`: the failures since the last success, in the order in which tallies arrive.
 * - `count`: the last `calls` outcomes. It means nothing across instances; a shared store does not support it.
 */
export type CircuitWindow =
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'consecutive' }
  | { readonly kind: 'count'; readonly calls: number }

export type WindowKind = CircuitWindow['kind']

/** What a command brings along. Durations are whole milliseconds, at least 1. */
export interface Terms {
  /** Who sends it: one id per breaker and process, which numbers its tallies. */
  readonly instance: string
  /** Unique to the command, the same in each of its deliveries. */
  readonly nonce: string
  /** Epoch ms by the store's clock, past which the command does nothing. A read has none. */
  readonly deadline?: number
  readonly window: CircuitWindow
  /** How long the circuit stays open, should this swap open it. */
  readonly cooldownMs: number
  /** How long the permit is held, should this swap take it. */
  readonly leaseMs: number
  /** Who takes the permit, or yields it. */
  readonly owner?: string
  /** half-open -> half-open: give the permit back instead of taking it. */
  readonly yield?: true
  /** With `yield`: the probe succeeded, and the circuit is to stay half-open for the next one. */
  readonly succeeded?: true
}

/** The outcomes of many calls, all admitted under one fence. Whole numbers. */
export interface Tally {
  /** Rises by at least 1 with each tally of an instance; a delivery with a number seen before changes nothing. */
  readonly seq: number
  readonly successes: number
  readonly failures: number
  /** Those of the successes and failures that were slow. */
  readonly slow: number
  /** Failures after the last success; all of them where there was no success. */
  readonly trailingFailures: number
}

/** The fleet's outcomes in the present window of the present period. */
export interface WindowCounters {
  readonly successes: number
  readonly failures: number
  readonly slow: number
  readonly consecutiveFailures: number
  /** Instances with a failure in the window. */
  readonly reporters: number
}

export interface SwapAnswer {
  readonly ok: boolean
  /** What holds now: the period just begun, or the one that beat the caller. */
  readonly snapshot: CircuitSnapshot
}

export interface RecordAnswer {
  /** Whether the tally belongs to the window, by this delivery or an earlier one. */
  readonly counted: boolean
  readonly snapshot: CircuitSnapshot
  readonly counters: WindowCounters
}

export type Unsubscribe = () => void

/**
 * Circuits: a state, and the period it belongs to. Every method is one atomic
 * step. A command that finds no circuit creates it, closed, under a fence of its
 * own, and then does what it does to a circuit whose fence it does not know.
 *
 * A store that cannot answer rejects or throws; a swap that loses is not an
 * error, it is `ok: false`.
 */
export interface CircuitStore {
  readState(name: string, terms: Terms): MaybePromise<CircuitSnapshot>
  /**
   * Lands only while the circuit is `from` AND its fence is `fence`, the one the
   * caller decided on. What the state alone does not allow is refused as well:
   * see {@link SWAPS}. A second delivery answers what the first did while the
   * period that the first one met or made lasts, and is refused after it.
   */
  compareAndSet(
    name: string,
    from: CircuitState,
    to: CircuitState,
    fence: Fence,
    terms: Terms,
  ): MaybePromise<SwapAnswer>
  /** Adds a tally to the window of the period `fence`, and to no other. */
  record(name: string, fence: Fence, tally: Tally, terms: Terms): MaybePromise<RecordAnswer>
  /** Removes the circuit. The next command creates another one, under a fence never seen before. */
  forget(name: string): MaybePromise<void>
  /**
   * Calls back with the snapshot after each swap, until told to stop. Best effort:
   * losing the subscription costs freshness and nothing else.
   */
  subscribe?(name: string, listener: (snapshot: CircuitSnapshot) => void): Unsubscribe
}

/**
 * Every swap there is, and what the store judges beside state and fence:
 *
 * - to `open`: starts the cooldown now, for everybody; counts the trip.
 * - `open` -> `half-open`: only from `probeAfter` on; the caller holds the permit.
 * - `half-open` -> `half-open`: with `yield`, only by the permit's owner, and the
 *   permit lies free; without, only when it lies free or its lease ran out.
 * - to `closed`: a recovery under the permit's fence, or an operator's reset or restore.
 * - to `isolated`: an operator's, from any state; left only for `closed`.
 */
export const SWAPS: Readonly<Record<CircuitState, readonly CircuitState[]>> = {
  closed: ['open', 'closed', 'isolated'],
  open: ['half-open', 'closed', 'isolated'],
  'half-open': ['half-open', 'open', 'closed', 'isolated'],
  isolated: ['closed'],
}

/** Instances are counted, and windows without a length of their own are held to last, for at least this long. */
export const MINIMUM_SPAN_MS = 60_000

/** How long a window looks back, in ms; {@link MINIMUM_SPAN_MS} for one that is not bounded by time. */
export function windowSpanMs(window: CircuitWindow): number {
  return window.kind === 'time' ? window.ms : MINIMUM_SPAN_MS
}

/** How long an instance counts as part of the fleet after it last touched the circuit, in ms. */
export function fleetSpanMs(window: CircuitWindow): number {
  return Math.max(windowSpanMs(window), MINIMUM_SPAN_MS)
}

/**
 * How long a circuit that nobody touches is kept, in ms. Twice the longest of
 * what it may still be needed for: kept exactly as long, it would be gone, and so
 * closed without a probe, at the moment its cooldown ends.
 */
export function idleLeaseMs(terms: Pick<Terms, 'window' | 'cooldownMs' | 'leaseMs'>): number {
  return 2 * Math.max(fleetSpanMs(terms.window), terms.cooldownMs, terms.leaseMs)
}
