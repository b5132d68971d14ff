import type { CircuitState } from '@tidegate/contract'
import { Call, Scope } from '../call/scope'
import type { Clock } from '../clock'
import { CircuitIsolatedError, CircuitOpenError, TimeoutError, withoutStack } from '../errors'
import type { Listener, Unlisten } from '../events'
import { Identity } from '../identity'
import { addLatency, halveLatencies, type Latencies, newLatencies, quantiles } from '../latencies'
import { isThenable } from '../maybe-promise'
import { type ExecuteOptions, Layer, type Next, type Protected } from '../policy'
import { Circuit, type Refusal, type Ticket } from './circuit'
import type { CircuitEvents } from './events'
import { HealthyCall } from './healthy-call'
import type { Outcome } from './machine'
import { type CircuitReconfiguration, type CircuitSettings, reconfigure } from './options'
import { outcomeOfAbort, outcomeOfError } from './outcome'
import type { Permit } from './probes'
import type { Reach } from './switches'

/** A circuit in numbers. */
export interface CircuitStats {
  readonly state: CircuitState
  /** Names the present period; empty before the first call, when this instance knows of none. */
  readonly fence: string
  /** Of the fleet, in the present window, as far as this instance has heard. */
  readonly successes: number
  readonly failures: number
  readonly slow: number
  /** Calls that this instance did not let in, since it was built. */
  readonly rejected: number
  /** How long calls of this instance took, in ms, those of the last windows above all; undefined before the first. */
  readonly p50Ms: number | undefined
  readonly p95Ms: number | undefined
  readonly p99Ms: number | undefined
  /** When the circuit opened, and when probing may start: epoch ms by the store's clock, while it is open or half-open. */
  readonly openedAt?: number
  readonly probeAfter?: number
}

/** What a call that is not let in is rejected with. */
export type CircuitRejection = CircuitOpenError | CircuitIsolatedError

/** After so many durations those that came before count half, so that the present outweighs the past. */
const LATENCIES_HALVED_AFTER = 2_048

/**
 * Reading the clock is most of what a healthy call costs. So many calls in one
 * sync are timed, each; of those beyond, one in `TIMED_OF_MANY`: enough for
 * percentiles, and for noticing that time has passed.
 */
const TIMED_PER_SYNC = 32
const TIMED_OF_MANY = 16

const EVENTS: Readonly<Record<keyof CircuitEvents, true>> = {
  transition: true,
  reject: true,
  success: true,
  failure: true,
  probe: true,
  late: true,
  storeDown: true,
  storeUp: true,
}

/** The start of a call that nobody needs the duration of. */
const UNTIMED = -1

/** The settings that a breaker shares with its family are others now. For the family, and so no method of its own. */
export let settingsChanged: (breaker: CircuitBreaker) => void

/** Lets calls through to a dependency while it answers, and fails them at once while it does not. */
export class CircuitBreaker extends Layer<CircuitEvents> {
  readonly #settings: CircuitSettings
  readonly #circuit: Circuit
  #rejected = 0
  #latencies: Latencies | undefined
  #durations = 0
  #untimed = 0
  /** Listeners that are told how long a call took. */
  #timekeepers = 0

  static {
    settingsChanged = (breaker) => breaker.#circuit.reconfigured()
  }

  /** Use `circuitBreaker(options)`, which checks them. */
  constructor(name: string, settings: CircuitSettings, identity: Identity = new Identity()) {
    super()
    this.#settings = settings
    this.#circuit = new Circuit(name, settings, this.events, identity)
  }

  /** Whether the settings ask for every call to be timed, who listens or not. */
  get #isTimekeeper(): boolean {
    const { slowCallMs, minReporters } = this.#settings
    return slowCallMs < Number.POSITIVE_INFINITY || minReporters > 1
  }

  // Getters, for a field would be a word in each of ten thousand keyed breakers.
  get kind(): 'circuitBreaker' {
    return 'circuitBreaker'
  }

  get name(): string {
    return this.#circuit.name
  }

  get clock(): Clock {
    return this.#settings.clock
  }

  protected get eventNames(): typeof EVENTS {
    return EVENTS
  }

  /** The state as this instance sees it. */
  get state(): CircuitState {
    return this.#circuit.state
  }

  /**
   * Runs the function, unless the circuit says no.
   *
   * @throws CircuitOpenError, CircuitIsolatedError: nothing was sent
   * @throws TimeoutError when the deadline, or a probe's time, has passed
   * @throws the reason of `options.signal` when that aborts
   * @throws what the function throws, as it is
   */
  override execute<T>(fn: Protected<T>, options?: ExecuteOptions): Promise<T> {
    const fence = options === undefined && typeof fn === 'function' ? this.#circuit.gate : undefined
    return fence === undefined ? super.execute(fn, options) : this.#pass(fn, new HealthyCall(fence), fence)
  }

  run<T>(next: Next<T>, scope: Scope): Promise<T> {
    if (scope.isBounded) return this.#runWithin(next, scope)
    const fence = this.#circuit.gate
    if (fence === undefined) return this.#enter(next, scope)
    scope.fence = fence
    return this.#pass(next, scope, fence)
  }

  async #pass<T, Context>(
    next: (context: Context) => T | PromiseLike<T>,
    context: Context,
    fence: string,
  ): Promise<T> {
    const start = this.#isTimed() ? this.#settings.clock.now() : UNTIMED
    if (start !== UNTIMED && this.#circuit.isOutdated(start))
      return this.#enter(next as Next<T>, scopeOf(context))
    // The healthy call: no timer, no listener, no signal, no round trip. It hears of the fleet
    // as calls come, and not only as they end: in an outage they may hang.
    if (start !== UNTIMED) this.#circuit.touch(start)
    let value: T
    try {
      value = await next(context)
    } catch (error) {
      this.#settle(fence, this.#outcomeOf(error), start, { error })
      throw error
    }
    const isFailure = this.#isFailureResult(value)
    if (isFailure || start !== UNTIMED || !this.#circuit.countHealthy(fence)) {
      this.#settle(fence, isFailure ? 'failure' : 'success', start)
    }
    return value
  }

  /** @returns ends the registration */
  override on<Name extends keyof CircuitEvents>(
    event: Name,
    listener: Listener<CircuitEvents[Name]>,
  ): Unlisten {
    const unlisten = super.on(event, listener)
    if (event !== 'success' && event !== 'failure') return unlisten
    this.#timekeepers++
    let isHeard = true
    return () => {
      if (isHeard) this.#timekeepers--
      isHeard = false
      unlisten()
    }
  }

  /**
   * The error that a call would be rejected with now, or undefined if one would be
   * let in. Takes no permit, and counts as nothing but traffic: it keeps the mirror fresh.
   */
  rejection(): CircuitRejection | undefined {
    const refusal = this.#circuit.preview()
    return refusal === undefined ? undefined : this.#errorOf(refusal)
  }

  stats(): CircuitStats {
    const { state, fence, counters, snapshot } = this.#circuit
    const [p50Ms, p95Ms, p99Ms] =
      this.#latencies === undefined ? [] : quantiles(this.#latencies, [0.5, 0.95, 0.99])
    const { successes, failures, slow } = counters
    return {
      state,
      fence,
      successes,
      failures,
      slow,
      rejected: this.#rejected,
      p50Ms,
      p95Ms,
      p99Ms,
      ...(snapshot?.openedAt !== undefined && { openedAt: snapshot.openedAt }),
      ...(snapshot?.probeAfter !== undefined && { probeAfter: snapshot.probeAfter }),
    }
  }

  /** Lets no call through, for the whole fleet, until `restore()`. Nothing but that ends it. */
  async isolate(): Promise<Reach> {
    return this.#circuit.isolate()
  }

  /** Ends an isolation: the circuit is closed, and starts afresh. */
  async restore(): Promise<Reach> {
    return this.#circuit.restore()
  }

  /** Closes the circuit and forgets its counts. Does not end an isolation. */
  async reset(): Promise<Reach> {
    return this.#circuit.reset()
  }

  /**
   * Changes options of a breaker that lives: its state, its counts and its fence stay.
   * `undefined` takes one back to its default.
   *
   * @throws OptionError naming the option, what it takes and what it got; then nothing is changed
   */
  reconfigure(options: CircuitReconfiguration): void {
    reconfigure(this.#settings, options)
    this.#circuit.reconfigured()
  }

  /** Sends what has come together: for a function that may be frozen once it has answered. */
  async flush(): Promise<void> {
    await this.#circuit.flush()
  }

  /** Flushes, and stops listening to the store. The breaker goes on working without being told of what peers do. */
  async close(): Promise<void> {
    await this.#circuit.flush()
    this.#circuit.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** A call that is not let through without a thought. */
  #enter<T>(next: Next<T>, scope: Scope): Promise<T> {
    const admitted = this.#circuit.admit()
    const go = (answer: Ticket | Refusal): Promise<T> =>
      // Not thrown: unwinding to an async function is a quarter of what a rejection would cost.
      'fence' in answer ? this.#runIn(next, scope, answer) : Promise.reject(this.#refused(answer))
    return isThenable(admitted) ? admitted.then(go) : go(admitted)
  }

  /** A call that its caller may end. */
  async #runWithin<T>(next: Next<T>, scope: Scope): Promise<T> {
    const admitted = this.#circuit.admit()
    const answer = isThenable(admitted) ? await this.#wait(admitted, scope) : admitted
    if (!('fence' in answer)) throw this.#refused(answer)
    return await this.#runIn(next, scope, answer)
  }

  /** Waits to be let in, but not longer than the caller does. A permit that comes after that is given back. */
  #wait(admitted: PromiseLike<Ticket | Refusal>, scope: Scope): Promise<Ticket | Refusal> {
    return scope.race(
      () => admitted,
      () =>
        void admitted.then((ticket) => {
          if ('permit' in ticket && ticket.permit !== undefined) this.#circuit.conclude(ticket.permit, 'none')
        }),
    )
  }

  #refused(refusal: Refusal): CircuitRejection {
    this.#rejected++
    this.events.emit('reject', refusal)
    return this.#errorOf(refusal)
  }

  #runIn<T>(next: Next<T>, scope: Scope, { fence, permit }: Ticket): Promise<T> {
    scope.fence = fence
    return permit === undefined ? this.#runInPeriod(next, scope, fence) : this.#probe(next, scope, permit)
  }

  async #runInPeriod<T>(next: Next<T>, scope: Scope, fence: string): Promise<T> {
    const start = this.#settings.clock.now()
    let value: T
    try {
      value = scope.isBounded ? await scope.race(() => next(scope)) : await next(scope)
    } catch (error) {
      const outcome = scope.aborted ? outcomeOfAbort(scope.reason) : this.#outcomeOf(error)
      this.#settle(fence, outcome, start, { error })
      throw error
    }
    this.#settle(fence, this.#isFailureResult(value) ? 'failure' : 'success', start)
    return value
  }

  async #probe<T>(next: Next<T>, scope: Scope, permit: Permit): Promise<T> {
    const { probeTimeoutMs, slowCallMs, clock } = this.#settings
    const start = clock.now()
    this.events.emit('probe', { fence: permit.fence, until: permit.until })
    const timeout = new TimeoutError(`a probe of "${this.name}"`, probeTimeoutMs)
    const probe = scope.until(permit.endsAt, clock)
    const cancel = clock.setTimeout(() => probe.abort(timeout), permit.endsAt - start, true)
    let outcome: Outcome = 'failure'
    let failure: { readonly error: unknown } | undefined
    try {
      const value = await probe.race(
        () => next(probe),
        (late) => this.#tellLate(permit.fence, late),
      )
      // A process that was frozen meanwhile may get here before its timer.
      if (this.#settings.clock.now() >= permit.endsAt) throw timeout
      outcome =
        this.#isFailureResult(value) || this.#settings.clock.now() - start >= slowCallMs
          ? 'failure'
          : 'success'
      return value
    } catch (error) {
      failure = { error }
      if (probe.aborted) outcome = outcomeOfAbort(probe.reason)
      else if (error !== timeout) outcome = this.#outcomeOf(error)
      throw error
    } finally {
      cancel()
      this.#measure(outcome, start, this.#settings.clock.now(), failure)
      this.#circuit.conclude(permit, outcome)
    }
  }

  /** What a probe came to after it was given up. That it failed was said then. */
  #tellLate(fence: string, failure?: { readonly error: unknown }): void {
    if (failure === undefined) this.events.emit('late', { fence, outcome: 'success' })
  }

  #isTimed(): boolean {
    if (this.#timekeepers > 0 || this.#circuit.unsent < TIMED_PER_SYNC || this.#isTimekeeper) return true
    this.#untimed = (this.#untimed + 1) % TIMED_OF_MANY
    return this.#untimed === 0
  }

  #settle(fence: string, outcome: Outcome, start: number, failure?: { readonly error: unknown }): void {
    if (outcome === 'none') return
    const now = start === UNTIMED ? UNTIMED : this.#settings.clock.now()
    const isSlow = now - start >= this.#settings.slowCallMs
    const isCounted = this.#circuit.count(fence, outcome === 'failure', isSlow, now)
    if (!isCounted) this.events.emit('late', { fence, outcome })
    if (start !== UNTIMED) this.#measure(outcome, start, now, failure)
  }

  #measure(outcome: Outcome, start: number, now: number, failure?: { readonly error: unknown }): void {
    if (outcome === 'none') return
    const durationMs = now - start
    this.#latencies ??= newLatencies()
    this.#durations = (this.#durations + 1) % LATENCIES_HALVED_AFTER
    if (this.#durations === 0) halveLatencies(this.#latencies)
    addLatency(this.#latencies, durationMs)
    if (outcome === 'success') this.events.emit('success', { durationMs })
    else this.events.emit('failure', { ...failure, durationMs })
  }

  // What the user's rules throw is said, and is not what becomes of the call.
  #outcomeOf(error: unknown): Outcome {
    try {
      return outcomeOfError(error, this.#settings.isFailure)
    } catch (ruleError) {
      this.events.complain('isFailure', ruleError)
      return 'failure'
    }
  }

  #isFailureResult(value: unknown): boolean {
    try {
      return this.#settings.isFailureResult(value) === true
    } catch (ruleError) {
      this.events.complain('isFailureResult', ruleError)
      return false
    }
  }

  #errorOf({ state, retryAfterMs }: Refusal): CircuitRejection {
    const build = (): CircuitRejection =>
      state === 'isolated'
        ? new CircuitIsolatedError(this.name)
        : new CircuitOpenError(this.name, retryAfterMs)
    return this.#settings.stackTraces ? build() : withoutStack(build)
  }
}

/** A healthy call that turns out to take a thought. */
function scopeOf(context: unknown): Scope {
  return context instanceof Scope ? context : Scope.root(new Call(undefined), false)
}
