import { deadlinesOf } from '../call/deadlines'
import type { Scope } from '../call/scope'
import { isFailureByDefault, isFailureResultByDefault } from '../circuit/outcome'
import { type Clock, systemClock } from '../clock'
import { isRefusal, OptionError, RateLimitedError } from '../errors'
import { isClock, merge, OptionReader } from '../options'
import { Layer, type Next } from '../policy'
import { RetryBudget, type RetryBudgetOptions } from './budget'
import { type DelayRule, delayAfter } from './delay'
import { retryAfterOf } from './retry-after'

export interface RetryOptions {
  readonly name: string
  /** The first one included. @default 3 */
  readonly maxAttempts?: number | undefined
  /** How the waits grow. @default 'exponential' */
  readonly backoff?: DelayRule['backoff'] | undefined
  /** `'full'` waits anything up to that, so that those who failed together come back apart. @default 'full' */
  readonly jitter?: DelayRule['jitter'] | undefined
  /** @default 100 */
  readonly baseDelayMs?: number | undefined
  /** @default 10_000 */
  readonly maxDelayMs?: number | undefined
  /** The longest `Retry-After` that is waited for; one that asks for longer ends the call. @default 30_000 */
  readonly maxRetryAfterMs?: number | undefined
  /**
   * How many retries there may be for all calls together, or one to share with other
   * policies; `false` for no bound but `maxAttempts`.
   *
   * @default { ratio: 0.2, floor: 10, windowMs: 10_000 }
   */
  readonly budget?: RetryBudgetOptions | RetryBudget | false | undefined
  /** Whether an error is worth another attempt. @default what a circuit breaker counts as a failure */
  readonly isRetryable?: ((error: unknown, attempt: number) => boolean) | undefined
  /** Whether a value is worth another attempt. @default what a circuit breaker counts as a failure: a Response of 5xx, 408, 429 */
  readonly isRetryableResult?: ((value: unknown, attempt: number) => boolean) | undefined
  /** @default the process' monotonic clock */
  readonly clock?: Clock | undefined
  /** From 0 to below 1. @default Math.random */
  readonly random?: (() => number) | undefined
}

/** Why there is no further attempt. */
export type GiveUpReason = 'attempts' | 'budget' | 'deadline' | 'retry-after'

export interface RetryEvents {
  /** An attempt failed, and there will be another after `delayMs`. */
  retry: { readonly attempt: number; readonly delayMs: number; readonly error?: unknown }
  /** An attempt failed that was worth another, and there will be none. */
  giveUp: { readonly attempts: number; readonly reason: GiveUpReason; readonly error?: unknown }
}

export interface RetryStats {
  readonly calls: number
  readonly retries: number
  /** Calls that were given up although another attempt would have been worth it. */
  readonly givenUp: number
  /** Retries that the budget has left; Infinity without one. */
  readonly budgetLeft: number
}

const KNOWN: Readonly<Record<keyof RetryOptions, true>> = {
  name: true,
  maxAttempts: true,
  backoff: true,
  jitter: true,
  baseDelayMs: true,
  maxDelayMs: true,
  maxRetryAfterMs: true,
  budget: true,
  isRetryable: true,
  isRetryableResult: true,
  clock: true,
  random: true,
}
const EVENTS = { retry: true, giveUp: true } as const

interface Settings {
  readonly maxAttempts: number
  readonly delay: DelayRule
  readonly maxRetryAfterMs: number
  readonly budget: RetryBudget | undefined
  readonly isRetryable: (error: unknown, attempt: number) => boolean
  readonly isRetryableResult: (value: unknown, attempt: number) => boolean
  readonly random: () => number
}

/** What an attempt came to that may be worth another. */
type Failed<T> = { readonly error: unknown } | { readonly value: T }

/** Tries again what failed and may well succeed: a few times, ever later, and never beyond its budget. */
export class Retry extends Layer<RetryEvents> {
  readonly kind = 'retry'
  readonly name: string
  readonly clock: Clock
  #options: RetryOptions
  #settings: Settings
  #calls = 0
  #retries = 0
  #givenUp = 0

  /** Use `retry(options)`. */
  constructor(options: RetryOptions) {
    super()
    const read = new OptionReader('retry', options, KNOWN)
    this.name = read.text('name')
    this.clock = read.read<Clock, Clock>('clock', systemClock, 'a Clock', isClock)
    this.#options = options
    this.#settings = settingsOf(read, this.clock)
  }

  protected get eventNames(): typeof EVENTS {
    return EVENTS
  }

  async run<T>(next: Next<T>, scope: Scope): Promise<T> {
    this.#calls++
    this.#settings.budget?.addCall()
    let waitedMs = 0
    for (let attempt = 1; ; attempt++) {
      const own = attempt === 1 ? scope : scope.nextAttempt()
      let failed: Failed<T>
      try {
        const value = await next(own)
        if (!this.#isFailedResult(value, attempt)) return value
        failed = { value }
      } catch (error) {
        if (own.aborted || !this.#isWorthIt(error, attempt)) throw error
        failed = { error }
      }
      const delayMs = this.#delayAfter(failed, attempt, waitedMs, scope)
      if (delayMs === undefined) return resultOf(failed)
      this.#retries++
      this.events.emit('retry', { attempt, delayMs, ...('error' in failed && { error: failed.error }) })
      discard(failed)
      await this.#sleep(delayMs, scope)
      // The wait and the call may have ended in one turn.
      if (scope.aborted) throw scope.reason
      waitedMs = delayMs
    }
  }

  stats(): RetryStats {
    return {
      calls: this.#calls,
      retries: this.#retries,
      givenUp: this.#givenUp,
      budgetLeft: this.#settings.budget?.left ?? Number.POSITIVE_INFINITY,
    }
  }

  override describe(): string {
    const { maxAttempts, delay } = this.#settings
    return `retry "${this.name}" up to ${maxAttempts} attempts, ${delay.backoff} from ${delay.baseDelayMs} ms`
  }

  /**
   * Other options, from the next call on. The budget stays, with what it has counted, unless another is given.
   *
   * @throws OptionError naming the option, what it takes and what it got; then nothing is changed
   */
  reconfigure(options: Omit<RetryOptions, 'name' | 'clock'>): void {
    const merged = merge('retry', this.#options, options, ['name', 'clock'])
    const budget = Object.hasOwn(options, 'budget') ? merged.budget : (this.#settings.budget ?? false)
    const next = { ...merged, budget }
    this.#settings = settingsOf(new OptionReader('retry', next, KNOWN), this.clock)
    this.#options = next
  }

  /** Nothing was sent by a policy that refused: only a quota says when it would be. */
  #isWorthIt(error: unknown, attempt: number): boolean {
    if (error instanceof OptionError) return false
    if (isRefusal(error)) return error instanceof RateLimitedError
    return this.#isFailure(error, attempt)
  }

  /** How long to wait, or undefined to give up. */
  #delayAfter<T>(failed: Failed<T>, attempt: number, waitedMs: number, scope: Scope): number | undefined {
    const { maxAttempts, delay, maxRetryAfterMs, budget, random } = this.#settings
    const giveUp = (reason: GiveUpReason): undefined => {
      this.#givenUp++
      this.events.emit('giveUp', {
        attempts: attempt,
        reason,
        ...('error' in failed && { error: failed.error }),
      })
    }
    if (scope.aborted) return undefined
    if (attempt >= maxAttempts) return giveUp('attempts')
    const askedMs = retryAfterOf('error' in failed ? failed.error : failed.value, Date.now())
    if (askedMs !== undefined && askedMs > maxRetryAfterMs) return giveUp('retry-after')
    const delayMs = Math.max(askedMs ?? 0, delayAfter(delay, attempt, waitedMs, random()))
    // An attempt that could only begin when the call is over is not waited for.
    if (delayMs >= scope.remainingMs) return giveUp('deadline')
    if (budget !== undefined && !budget.take()) return giveUp('budget')
    return delayMs
  }

  /** Ends when the call does: the caller is not kept waiting for an attempt that nobody wants any more. */
  #sleep(ms: number, scope: Scope): Promise<void> {
    const deadlines = deadlinesOf(this.clock)
    return new Promise((resolve, reject) => {
      const deadline = deadlines.set(this.clock.now(), ms, resolve)
      scope.onAbort((reason) => {
        deadlines.clear(deadline)
        reject(reason)
      })
    })
  }

  // What the user's rules throw is said, and is not what becomes of the call.
  #isFailedResult(value: unknown, attempt: number): boolean {
    try {
      return this.#settings.isRetryableResult(value, attempt) === true
    } catch (error) {
      this.events.complain('isRetryableResult', error)
      return false
    }
  }

  #isFailure(error: unknown, attempt: number): boolean {
    try {
      return this.#settings.isRetryable(error, attempt) === true
    } catch (ruleError) {
      this.events.complain('isRetryable', ruleError)
      return false
    }
  }
}

function resultOf<T>(failed: Failed<T>): T {
  if ('error' in failed) throw failed.error
  return failed.value
}

/** The body of an answer that nobody will read holds its connection until it is told so. */
function discard<T>(failed: Failed<T>): void {
  const body =
    'value' in failed ? (failed.value as { body?: { cancel?(): unknown } } | null)?.body : undefined
  try {
    const cancelled: unknown = typeof body?.cancel === 'function' ? body.cancel() : undefined
    if (cancelled instanceof Promise) cancelled.catch(() => {})
  } catch {
    // It was being read already.
  }
}

function settingsOf(read: OptionReader<RetryOptions>, clock: Clock): Settings {
  const baseDelayMs = read.milliseconds('baseDelayMs', 100, 0)
  const maxDelayMs = read.milliseconds('maxDelayMs', Math.max(10_000, baseDelayMs), 0)
  if (maxDelayMs < baseDelayMs) read.refuse('maxDelayMs', `at least baseDelayMs (${baseDelayMs})`)
  const backoff = read.oneOf('backoff', ['exponential', 'constant', 'decorrelated'], 'exponential')
  if (backoff === 'decorrelated' && read.has('jitter')) {
    read.refuse('jitter', "left out with backoff 'decorrelated', which has its own")
  }
  return {
    maxAttempts: read.count('maxAttempts', 3),
    delay: { backoff, jitter: read.oneOf('jitter', ['full', 'none'], 'full'), baseDelayMs, maxDelayMs },
    maxRetryAfterMs: read.milliseconds('maxRetryAfterMs', 30_000, 0),
    budget: RetryBudget.of(read, clock),
    isRetryable: read.function('isRetryable', isFailureByDefault),
    isRetryableResult: read.function('isRetryableResult', isFailureResultByDefault),
    random: read.function('random', Math.random),
  }
}

/**
 * Tries again what failed.
 *
 * A body that can be read once only, a stream, is gone after the first attempt: say so
 * with `isRetryable`, or build the request anew within the function.
 *
 * @throws OptionError naming the option, what it takes and what it got
 */
export function retry(options: RetryOptions): Retry {
  return new Retry(options)
}
