import type { Listener, Unlisten } from './events'
import type { CallContext } from './execution'

/** What belongs to one call. */
export interface ExecuteOptions {
  /** Ends the call when the caller goes away. Its reason reaches the caller unchanged. */
  readonly signal?: AbortSignal | undefined
  /** How long the call may take, in ms from now; 0 starts nothing, passing it is a TimeoutError. */
  readonly deadlineMs?: number | undefined
  /** Whose call it is, for policies that tell callers apart. A circuit breaker does not: see `circuitBreaker.keyed`. */
  readonly key?: string | undefined
  /** Handed to the function as it is. */
  readonly metadata?: unknown
}

/** A function that a policy protects. */
export type Protected<T> = (context: CallContext) => T | PromiseLike<T>

/** What every policy is. */
export interface Policy<Events extends object> {
  readonly kind: string
  readonly name: string
  execute<T>(fn: Protected<T>, options?: ExecuteOptions): Promise<T>
  wrap<This, Args extends unknown[], T>(
    fn: (this: This, ...args: Args) => T | PromiseLike<T>,
  ): (this: This, ...args: Args) => Promise<T>
  on<Name extends keyof Events>(event: Name, listener: Listener<Events[Name]>): Unlisten
  stats(): object
}
