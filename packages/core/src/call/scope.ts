import type { Clock } from '../clock'
import type { CallContext } from './context'
import type { Work } from './work'

/** What all scopes of one call have in common. */
export class Call {
  readonly metadata: unknown
  readonly key: string | undefined
  /** What a wrapped function was called with; undefined where it is none. */
  readonly args: readonly unknown[] | undefined
  /** The attempts begun so far, whichever policies made them. */
  attempts = 1
  #correlationId: string | undefined

  constructor(metadata: unknown, key?: string, correlationId?: string, args?: readonly unknown[]) {
    this.metadata = metadata
    this.key = key
    this.#correlationId = correlationId
    this.args = args
  }

  get correlationId(): string {
    this.#correlationId ??= crypto.randomUUID()
    return this.#correlationId
  }
}

type OnAbort = (reason: unknown) => void

/**
 * A part of a call that can be told to stop by itself: the whole of it, one attempt,
 * what a time limit is set to. The function gets the innermost one, and what stops an
 * outer one stops those within.
 */
export class Scope implements CallContext {
  readonly call: Call
  readonly attempt: number
  fence: string
  /** When it must be over, by the clock that it was set by; Infinity where nothing limits it. */
  readonly deadlineAt: number
  readonly clock: Clock | undefined
  /** What whoever holds something for this part waits for before he lets go of it. */
  work: Work | undefined = undefined
  aborted = false
  reason: unknown = undefined
  /** Whether anybody may tell it to stop. Where nobody may, nobody need listen. */
  readonly isBounded: boolean
  #listeners: OnAbort[] | undefined
  #controller: AbortController | undefined

  private constructor(
    call: Call,
    attempt: number,
    fence: string,
    isBounded: boolean,
    deadlineAt: number,
    clock: Clock | undefined,
  ) {
    this.call = call
    this.attempt = attempt
    this.fence = fence
    this.isBounded = isBounded
    this.deadlineAt = deadlineAt
    this.clock = clock
  }

  /** Of a whole call. */
  static root(
    call: Call,
    isBounded: boolean,
    deadlineAt: number = Number.POSITIVE_INFINITY,
    clock?: Clock,
  ): Scope {
    return new Scope(call, 1, '', isBounded, deadlineAt, clock)
  }

  /** For one more attempt: another number, and a signal that tells it apart from those before. */
  nextAttempt(): Scope {
    return this.#within(this.#copy(++this.call.attempts, this.isBounded))
  }

  /** A part that can be stopped without the whole. */
  part(): Scope {
    return this.#within(this.#copy(this.attempt, true))
  }

  /** One more attempt, that can be stopped without the others. */
  nextPart(): Scope {
    return this.#within(this.#copy(++this.call.attempts, true))
  }

  /** A part that must be over at `deadlineAt`, or when the whole must, if that is sooner. */
  until(deadlineAt: number, clock: Clock): Scope {
    // Two clocks have two origins: what is left by the one is counted from now by the other.
    const outer =
      this.deadlineAt === Number.POSITIVE_INFINITY ? this.deadlineAt : clock.now() + this.remainingMs
    return this.#within(this.#copy(this.attempt, true, Math.min(outer, deadlineAt), clock))
  }

  get metadata(): unknown {
    return this.call.metadata
  }

  get correlationId(): string {
    return this.call.correlationId
  }

  get remainingMs(): number {
    if (this.clock === undefined || this.deadlineAt === Number.POSITIVE_INFINITY)
      return Number.POSITIVE_INFINITY
    return Math.max(0, this.deadlineAt - this.clock.now())
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.aborted) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    const listeners = this.#listeners
    this.#listeners = undefined
    for (const listener of listeners ?? []) listener(reason)
    this.#controller?.abort(reason)
  }

  /** Calls back once, at the moment of the abort, or at once if that is past; never where nobody can abort it. */
  onAbort(listener: OnAbort): void {
    if (this.aborted) listener(this.reason)
    else if (this.isBounded) {
      this.#listeners ??= []
      this.#listeners.push(listener)
    }
  }

  /**
   * What `work` comes to, or the reason of an abort, whichever is first. What
   * `work` comes to after an abort is told to `late` and reaches nobody else, so
   * that a rejection then is not an unhandled one.
   */
  race<T>(work: () => T | PromiseLike<T>, late?: (error?: { readonly error: unknown }) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.aborted) {
        reject(this.reason)
        return
      }
      this.onAbort(reject)
      const run = async (): Promise<T> => await work()
      run().then(
        (value) => (this.aborted ? late?.() : resolve(value)),
        (error: unknown) => (this.aborted ? late?.({ error }) : reject(error)),
      )
    })
  }

  #copy(attempt: number, isBounded: boolean, deadlineAt = this.deadlineAt, clock = this.clock): Scope {
    const copy = new Scope(this.call, attempt, this.fence, isBounded, deadlineAt, clock)
    copy.work = this.work
    return copy
  }

  #within(part: Scope): Scope {
    if (this.aborted) part.abort(this.reason)
    else if (this.isBounded) this.onAbort((reason) => part.abort(reason))
    return part
  }
}
