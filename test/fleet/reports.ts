import type { CircuitEvents, CircuitState } from '@tidegate/core'

/** What the calls of an instance came to, since it started. */
export interface Counts {
  successes: number
  failures: number
  timeouts: number
  /** Calls that their caller gave up. */
  left: number
  /** Calls that were not let in, by code. */
  rejections: Record<string, number>
}

/** What an instance tells. Moments are epoch ms of the machine's clock, which is the store's as well. */
export type Report = { readonly at: number } & (
  | { readonly kind: 'ready' }
  | ({ readonly kind: 'transition'; readonly counts: Counts } & CircuitEvents['transition'])
  | ({ readonly kind: 'probe' } & CircuitEvents['probe'])
  | ({ readonly kind: 'late' } & CircuitEvents['late'])
  | { readonly kind: 'storeDown'; readonly error: string }
  | { readonly kind: 'storeUp' }
  /** The process did nothing from then until `at`, be it frozen or out of its turn. */
  | { readonly kind: 'stall'; readonly from: number }
  /** A call came to something that no call may come to. */
  | { readonly kind: 'unexpected'; readonly error: string }
  | ({ readonly kind: 'status'; readonly number: number } & Status)
  | ({ readonly kind: 'end' } & Status)
)

export interface Status {
  readonly state: CircuitState
  readonly fence: string
  readonly counts: Counts
}

/** What the parent says of itself: its stalls concern everybody, for it runs the dependency and the proxy. */
export const HARNESS = 'harness'

/** A report, and whose. */
export interface Telling {
  readonly instance: string
  readonly report: Report
}

export type Command =
  /** The callers begin. */
  | { readonly do: 'go' }
  /** The callers make no more calls until told to go. */
  | { readonly do: 'rest' }
  /** Everybody who is waiting for an answer goes away. */
  | { readonly do: 'leave' }
  | { readonly do: 'status'; readonly number: number }
  /** Flush, close, and end for want of anything to do. */
  | { readonly do: 'stop' }
