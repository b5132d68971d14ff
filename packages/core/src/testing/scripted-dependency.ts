import type { CallContext } from '../call/context'
import type { Clock } from '../clock'

/** How a dependency answers one call. */
export type Step<T> =
  | { readonly answer: T; readonly afterMs?: number }
  | { readonly error: unknown; readonly afterMs?: number }
  /** Does not answer; `'hang'` ends when the signal aborts, `'ignore'` does not end. */
  | 'hang'
  | 'ignore'

/**
 * A dependency that does what a script says, call by call, and what its last line
 * says ever after.
 *
 * @example
 * const payments = new ScriptedDependency(clock, [{ error: new Error('down') }, 'hang', { answer: 'paid' }])
 * await breaker.execute(payments.call)
 */
export class ScriptedDependency<T> {
  readonly #clock: Clock
  #script: readonly [Step<T>, ...Step<T>[]]
  #line = 0
  /** Calls that reached it. */
  calls = 0
  /** Calls that are on their way. */
  pending = 0

  constructor(clock: Clock, script: readonly [Step<T>, ...Step<T>[]]) {
    this.#clock = clock
    this.#script = script
  }

  /** What to protect. Needs no `this`. */
  readonly call = async (context: Pick<CallContext, 'signal'>): Promise<T> => {
    this.calls++
    this.pending++
    try {
      return await this.#play(this.#next(), context)
    } finally {
      this.pending--
    }
  }

  /** From the next call on. */
  rewrite(script: readonly [Step<T>, ...Step<T>[]]): void {
    this.#script = script
    this.#line = 0
  }

  #next(): Step<T> {
    const last = this.#script.length - 1
    const step = this.#script[Math.min(this.#line, last)] as Step<T>
    this.#line++
    return step
  }

  async #play(step: Step<T>, context: Pick<CallContext, 'signal'>): Promise<T> {
    if (step === 'ignore') return await new Promise<never>(() => {})
    if (step === 'hang') return await aborted(context.signal)
    if (step.afterMs !== undefined) await this.#sleep(step.afterMs)
    if ('error' in step) throw step.error
    return step.answer
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.setTimeout(resolve, ms, false))
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
