/** What a protected function is given. */
export interface CallContext {
  /**
   * Aborts when the caller goes away, when a deadline or a time limit passes, when
   * another attempt was quicker, and when a probe has had its time. Made when it is
   * first read: a call that does not look at it does not pay for it.
   */
  readonly signal: AbortSignal
  /** 1 for the first attempt. */
  readonly attempt: number
  /** The period of the circuit, or of the lease, under which the call was let through; empty where neither is around it. */
  readonly fence: string
  /** How long the call may take from now on, in ms; Infinity where nothing limits it. */
  readonly remainingMs: number
  /** The caller's, or one made when it is first read; the same for all attempts of a call. */
  readonly correlationId: string
  /** What the caller handed to `execute`. */
  readonly metadata: unknown
}
