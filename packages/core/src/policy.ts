import type { CallContext } from './call/context'
import { checkFunction, runFor } from './call/root'
import type { Scope } from './call/scope'
import type { Clock } from './clock'
import { Emitter, type Listener, type Unlisten } from './events'

/** What belongs to one call. */
export interface ExecuteOptions {
  /** Ends the call when the caller goes away. Its reason reaches the caller unchanged. */
  readonly signal?: AbortSignal | undefined
  /** How long the call may take, in ms from now; 0 starts nothing, passing it is a TimeoutError. */
  readonly deadlineMs?: number | undefined
  /** Whose call it is, for policies that tell callers apart. A circuit breaker does not: see `circuitBreaker.keyed`. */
  readonly key?: string | undefined
  /** What the call is known by elsewhere. @default one made when it is first read */
  readonly correlationId?: string | undefined
  /** Handed to the function as it is. */
  readonly metadata?: unknown
}

/** A function that a policy protects. */
export type Protected<T> = (context: CallContext) => T | PromiseLike<T>

/** What a layer of a pipeline hands the call on to. */
export type Next<T> = (scope: Scope) => T | PromiseLike<T>

/** What every policy is. */
export interface Policy<Events extends object = object> {
  readonly kind: string
  readonly name: string
  execute<T>(fn: Protected<T>, options?: ExecuteOptions): Promise<T>
  wrap<This, Args extends unknown[], T>(
    fn: (this: This, ...args: Args) => T | PromiseLike<T>,
  ): (this: This, ...args: Args) => Promise<T>
  on<Name extends keyof Events>(event: Name, listener: Listener<Events[Name]>): Unlisten
  stats(): object
  /** One line that says what it is and does, for people. */
  describe(): string
}

/** What the policies of this package have in common; a pipeline runs through `run` of each. */
export abstract class Layer<Events extends object> implements Policy<Events> {
  abstract readonly kind: string
  abstract readonly name: string
  readonly #events = new Emitter<Events>()

  /** Where the caller's deadline is counted. */
  abstract get clock(): Clock
  /** The events there are. */
  protected abstract get eventNames(): Readonly<Record<keyof Events, true>>

  /** Does what the policy does around `next`, within a scope that its caller has set up. */
  abstract run<T>(next: Next<T>, scope: Scope): Promise<T>

  abstract stats(): object

  describe(): string {
    return `${this.kind} "${this.name}"`
  }

  protected get events(): Emitter<Events> {
    return this.#events
  }

  execute<T>(fn: Protected<T>, options?: ExecuteOptions): Promise<T> {
    try {
      checkFunction('execute', fn)
    } catch (error) {
      return Promise.reject(error)
    }
    return runFor(this.name, this.clock, options, (scope) => this.run(fn, scope))
  }

  /** The function, protected; it keeps its arguments, its result and its `this`. */
  wrap<This, Args extends unknown[], T>(
    fn: (this: This, ...args: Args) => T | PromiseLike<T>,
  ): (this: This, ...args: Args) => Promise<T> {
    checkFunction('wrap', fn)
    const self = this
    return function (this: This, ...args: Args): Promise<T> {
      return runFor(
        self.name,
        self.clock,
        undefined,
        (scope) => self.run(() => fn.apply(this, args), scope),
        args,
      )
    }
  }

  /** @returns ends the registration */
  on<Name extends keyof Events>(event: Name, listener: Listener<Events[Name]>): Unlisten {
    if (!Object.hasOwn(this.eventNames, event)) {
      throw new TypeError(
        `on: there is no event ${String(event)}; there are ${Object.keys(this.eventNames).join(', ')}`,
      )
    }
    checkFunction('on', listener)
    return this.#events.on(event, listener)
  }
}
