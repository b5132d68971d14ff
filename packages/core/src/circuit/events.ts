import type { CircuitState, WindowCounters } from '@tidegate/contract'

/** What a breaker tells its listeners. Moments are epoch ms. */
export interface CircuitEvents {
  /** The circuit is in another state, moved by this instance or by a peer; `counters` are those that it left behind. */
  transition: {
    readonly from: CircuitState
    readonly to: CircuitState
    readonly fence: string
    readonly by: 'here' | 'peer'
    readonly counters: WindowCounters
  }
  /** A call was not let in. */
  reject: { readonly state: CircuitState; readonly retryAfterMs: number | undefined }
  success: { readonly durationMs: number }
  /** `error` is missing where the function resolved to a value that counts as a failure. */
  failure: { readonly error?: unknown; readonly durationMs: number }
  /** This instance sends a probe; its permit ends at `until` by the store's clock. */
  probe: { readonly fence: string; readonly until: number }
  /** An outcome came after its period was over, and counted for nothing. */
  late: { readonly fence: string; readonly outcome: 'success' | 'failure' }
  /** The store does not answer: once per outage. */
  storeDown: { readonly error: unknown; readonly since: number }
  /** The store answers again. */
  storeUp: { readonly since: number }
}
