import type { CircuitState } from '@tidegate/contract'
import type { CancelTimer } from '../clock'
import { CircuitIsolatedError, CircuitOpenError, OptionError, TimeoutError, withoutStack } from '../errors'
import { Emitter, type Listener, type Unlisten } from '../events'
import { Execution, HealthyCall } from '../execution'
import { isThenable } from '../maybe-promise'
import { describe } from '../options'
import type { ExecuteOptions, Policy, Protected } from '../policy'
import { follow } from '../signals'
import { Circuit, type Refusal, type Ticket } from './circuit'
import type { CircuitEvents } from './events'
import { addLatency, halveLatencies, type Latencies, newLatencies, quantiles } from './latencies'
import type { Outcome } from './machine'
import type { CircuitSettings } from './options'
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

const CALL_OPTIONS: Readonly<Record<keyof ExecuteOptions, true>> = {
  signal: true,
  deadlineMs: true,
  key: true,
  metadata: true,
}

/** The start of a call that nobody needs the duration of. */
const UNTIMED = -1

/** Lets calls through to a dependency while it answers, and fails them at once while it does not. */
export class CircuitBreaker implements Policy<CircuitEvents> {
  readonly #settings: CircuitSettings
  readonly #events = new Emitter<CircuitEvents>()
  readonly #circuit: Circuit
  #rejected = 0
  #latencies: Latencies | undefined
  #durations = 0
  #untimed = 0
  /** Listeners that are told how long a call took; with one of them, or a limit for slow calls, every call is timed. */
  #timekeepers: number

  /** Use `circuitBreaker(options)`, which checks them. */
  constructor(name: string, settings: CircuitSettings) {
    this.#settings = settings
    this.#circuit = new Circuit(name, settings, this.#events)
    this.#timekeepers = settings.slowCallMs < Number.POSITIVE_INFINITY || settings.minReporters > 1 ? 1 : 0
  }

  // Getters, for a field would be a word in each of ten thousand keyed breakers.
  get kind(): 'circuitBreaker' {
    return 'circuitBreaker'
  }

  get name(): string {
    return this.#circuit.name
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
  execute<T>(fn: Protected<T>, options?: ExecuteOptions): Promise<T> {
    try {
      checkFunction('execute', fn)
      if (options !== undefined) {
        checkCall(options)
        if (isBounded(options)) return this.#executeWithin(fn, options)
      }
      const fence = this.#circuit.gate
      return fence === undefined
        ? this.#enter(fn, options?.metadata)
        : this.#pass(fn, fence, options?.metadata)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async #pass<T>(fn: Protected<T>, fence: string, metadata: unknown): Promise<T> {
    const start = this.#isTimed() ? this.#settings.clock.now() : UNTIMED
    if (start !== UNTIMED && this.#circuit.isOutdated(start)) return this.#enter(fn, metadata)
    // The healthy call: no timer, no listener, no signal, no round trip. It hears of the fleet
    // as calls come, and not only as they end: in an outage they may hang.
    if (start !== UNTIMED) this.#circuit.touch(start)
    let value: T
    try {
      value = await fn(new HealthyCall(fence, metadata))
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

  /** The function, protected; it keeps its arguments, its result and its `this`. */
  wrap<This, Args extends unknown[], T>(
    fn: (this: This, ...args: Args) => T | PromiseLike<T>,
  ): (this: This, ...args: Args) => Promise<T> {
    checkFunction('wrap', fn)
    const { execute } = this
    const self = this
    return function (this: This, ...args: Args): Promise<T> {
      return execute.call(self, () => fn.apply(this, args)) as Promise<T>
    }
  }

  /** @returns ends the registration */
  on<Name extends keyof CircuitEvents>(event: Name, listener: Listener<CircuitEvents[Name]>): Unlisten {
    if (!Object.hasOwn(EVENTS, event)) {
      throw new TypeError(
        `on: there is no event ${String(event)}; there are ${Object.keys(EVENTS).join(', ')}`,
      )
    }
    checkFunction('on', listener)
    const unlisten = this.#events.on(event, listener)
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
  #enter<T>(fn: Protected<T>, metadata: unknown): Promise<T> {
    const admitted = this.#circuit.admit()
    const go = (answer: Ticket | Refusal): Promise<T> =>
      // Not thrown: unwinding to an async function is a quarter of what a rejection would cost.
      'fence' in answer
        ? this.#run(fn, new Execution(metadata), answer)
        : Promise.reject(this.#refused(answer))
    return isThenable(admitted) ? admitted.then(go) : go(admitted)
  }

  /** A call with limits of its caller's. */
  async #executeWithin<T>(fn: Protected<T>, { signal, deadlineMs, metadata }: ExecuteOptions): Promise<T> {
    if (signal?.aborted === true) throw signal.reason
    if (deadlineMs !== undefined && deadlineMs <= 0) throw new TimeoutError(`a call of "${this.name}"`, 0)
    const execution = new Execution(metadata)
    const limits: CancelTimer[] = []
    if (signal !== undefined) limits.push(follow(signal, () => execution.abort(signal.reason)))
    if (deadlineMs !== undefined) {
      const expire = (): void => execution.abort(new TimeoutError(`a call of "${this.name}"`, deadlineMs))
      limits.push(this.#settings.clock.setTimeout(expire, deadlineMs, true))
    }
    try {
      const admitted = this.#circuit.admit()
      const answer = isThenable(admitted) ? await this.#wait(admitted, execution) : admitted
      if (!('fence' in answer)) throw this.#refused(answer)
      return await this.#run(fn, execution, answer)
    } finally {
      for (const end of limits) end()
    }
  }

  /** Waits to be let in, but not longer than the caller does. A permit that comes after that is given back. */
  #wait(admitted: PromiseLike<Ticket | Refusal>, execution: Execution): Promise<Ticket | Refusal> {
    return execution.race(
      () => admitted,
      () =>
        void admitted.then((ticket) => {
          if ('permit' in ticket && ticket.permit !== undefined) this.#circuit.conclude(ticket.permit, 'none')
        }),
    )
  }

  #refused(refusal: Refusal): CircuitRejection {
    this.#rejected++
    this.#events.emit('reject', refusal)
    return this.#errorOf(refusal)
  }

  #run<T>(fn: Protected<T>, execution: Execution, { fence, permit }: Ticket): Promise<T> {
    execution.fence = fence
    return permit === undefined ? this.#runInPeriod(fn, execution, fence) : this.#probe(fn, execution, permit)
  }

  async #runInPeriod<T>(fn: Protected<T>, execution: Execution, fence: string): Promise<T> {
    const start = this.#settings.clock.now()
    let value: T
    try {
      value = await execution.race(() => fn(execution))
    } catch (error) {
      const outcome = execution.aborted ? outcomeOfAbort(execution.reason) : this.#outcomeOf(error)
      this.#settle(fence, outcome, start, { error })
      throw error
    }
    this.#settle(fence, this.#isFailureResult(value) ? 'failure' : 'success', start)
    return value
  }

  async #probe<T>(fn: Protected<T>, execution: Execution, permit: Permit): Promise<T> {
    const { probeTimeoutMs, slowCallMs } = this.#settings
    const start = this.#settings.clock.now()
    this.#events.emit('probe', { fence: permit.fence, until: permit.until })
    const timeout = new TimeoutError(`a probe of "${this.name}"`, probeTimeoutMs)
    const cancel = this.#settings.clock.setTimeout(
      () => execution.abort(timeout),
      permit.endsAt - start,
      true,
    )
    let outcome: Outcome = 'failure'
    let failure: { readonly error: unknown } | undefined
    try {
      const value = await execution.race(
        () => fn(execution),
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
      if (execution.aborted) outcome = outcomeOfAbort(execution.reason)
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
    if (failure === undefined) this.#events.emit('late', { fence, outcome: 'success' })
  }

  #isTimed(): boolean {
    if (this.#timekeepers > 0 || this.#circuit.unsent < TIMED_PER_SYNC) return true
    this.#untimed = (this.#untimed + 1) % TIMED_OF_MANY
    return this.#untimed === 0
  }

  #settle(fence: string, outcome: Outcome, start: number, failure?: { readonly error: unknown }): void {
    if (outcome === 'none') return
    const now = start === UNTIMED ? UNTIMED : this.#settings.clock.now()
    const isSlow = now - start >= this.#settings.slowCallMs
    const isCounted = this.#circuit.count(fence, outcome === 'failure', isSlow, now)
    if (!isCounted) this.#events.emit('late', { fence, outcome })
    if (start !== UNTIMED) this.#measure(outcome, start, now, failure)
  }

  #measure(outcome: Outcome, start: number, now: number, failure?: { readonly error: unknown }): void {
    if (outcome === 'none') return
    const durationMs = now - start
    this.#latencies ??= newLatencies()
    this.#durations = (this.#durations + 1) % LATENCIES_HALVED_AFTER
    if (this.#durations === 0) halveLatencies(this.#latencies)
    addLatency(this.#latencies, durationMs)
    if (outcome === 'success') this.#events.emit('success', { durationMs })
    else this.#events.emit('failure', { ...failure, durationMs })
  }

  // What the user's rules throw is said, and is not what becomes of the call.
  #outcomeOf(error: unknown): Outcome {
    try {
      return outcomeOfError(error, this.#settings.isFailure)
    } catch (ruleError) {
      this.#events.complain('isFailure', ruleError)
      return 'failure'
    }
  }

  #isFailureResult(value: unknown): boolean {
    try {
      return this.#settings.isFailureResult(value) === true
    } catch (ruleError) {
      this.#events.complain('isFailureResult', ruleError)
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

function isBounded(options: ExecuteOptions): boolean {
  return options.signal !== undefined || options.deadlineMs !== undefined
}

/** @throws TypeError */
function checkFunction(method: string, fn: unknown): void {
  if (typeof fn !== 'function')
    throw new TypeError(`${method}: a function must be given, got ${describe(fn)}`)
}

/** @throws OptionError naming the option, what it takes and what it got */
function checkCall(options: ExecuteOptions): void {
  if (typeof options !== 'object' || options === null) throw refused('options', 'an object', options)
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(CALL_OPTIONS, name)) continue
    const names = Object.keys(CALL_OPTIONS).join(', ')
    throw new OptionError(name, `execute: there is no option ${name}; there are ${names}`)
  }
  const { signal, deadlineMs } = options
  if (deadlineMs !== undefined && (typeof deadlineMs !== 'number' || Number.isNaN(deadlineMs))) {
    throw refused('deadlineMs', 'a number of milliseconds from now', deadlineMs)
  }
  // By its structure: a signal of another realm is one.
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.addEventListener !== 'function') {
    throw refused('signal', 'an AbortSignal', signal)
  }
}

function refused(option: string, takes: string, got: unknown): OptionError {
  return new OptionError(option, `execute: ${option} must be ${takes}, got ${describe(got)}`)
}
