import { type Deadlines, deadlinesOf } from '../call/deadlines'
import type { Scope } from '../call/scope'
import { type Clock, systemClock } from '../clock'
import { TimeoutError } from '../errors'
import { isClock, OptionReader } from '../options'
import { Layer, type Next } from '../policy'

export interface TimeoutOptions {
  readonly name: string
  /** How long a call may take, in ms; the caller's deadline where that is sooner. */
  readonly timeoutMs: number
  /** @default the process' monotonic clock */
  readonly clock?: Clock | undefined
}

export interface TimeoutEvents {
  /** A call took too long: its signal has aborted, and its caller has a TimeoutError. */
  timeout: { readonly timeoutMs: number }
  /** What a call came to after it was given up; `error` where it failed. */
  late: { readonly error?: unknown; readonly durationMs: number }
}

export interface TimeoutStats {
  readonly timeouts: number
  /** Calls that were given up and have not settled yet: they may hold what they took. */
  readonly abandoned: number
}

const KNOWN = { name: true, timeoutMs: true, clock: true } as const
const EVENTS = { timeout: true, late: true } as const

/**
 * Limits how long a call may take: its signal aborts, and it is not waited for any
 * longer, whether or not the function listens.
 */
export class Timeout extends Layer<TimeoutEvents> {
  readonly kind = 'timeout'
  readonly name: string
  readonly clock: Clock
  readonly #deadlines: Deadlines
  #timeoutMs: number
  #timeouts = 0
  #abandoned = 0

  /** Use `timeout(options)`. */
  constructor(options: TimeoutOptions) {
    super()
    const read = new OptionReader('timeout', options, KNOWN)
    this.name = read.text('name')
    this.#timeoutMs = timeoutOf(read)
    this.clock = read.read<Clock, Clock>('clock', systemClock, 'a Clock', isClock)
    this.#deadlines = deadlinesOf(this.clock)
  }

  get timeoutMs(): number {
    return this.#timeoutMs
  }

  protected get eventNames(): typeof EVENTS {
    return EVENTS
  }

  run<T>(next: Next<T>, scope: Scope): Promise<T> {
    const start = this.clock.now()
    const part = scope.until(start + this.#timeoutMs, this.clock)
    return new Promise<T>((resolve, reject) => {
      if (part.aborted) {
        reject(part.reason)
        return
      }
      let isRunning = true
      const deadline = this.#deadlines.set(start, this.#timeoutMs, () => this.#expire(part))
      part.onAbort((reason) => {
        // What stops the whole call later is none of this part's affair.
        if (!isRunning) return
        this.#deadlines.clear(deadline)
        this.#abandoned++
        reject(reason)
      })
      settle(
        () => next(part),
        (value) => {
          if (part.aborted) return this.#tellLate(start)
          isRunning = false
          this.#deadlines.clear(deadline)
          resolve(value)
        },
        (error) => {
          if (part.aborted) return this.#tellLate(start, { error })
          isRunning = false
          this.#deadlines.clear(deadline)
          reject(error)
        },
      )
    })
  }

  stats(): TimeoutStats {
    return { timeouts: this.#timeouts, abandoned: this.#abandoned }
  }

  override describe(): string {
    return `timeout "${this.name}" of ${this.#timeoutMs} ms`
  }

  /**
   * Another limit, from the next call on.
   *
   * @throws OptionError naming the option, what it takes and what it got
   */
  reconfigure(options: Pick<TimeoutOptions, 'timeoutMs'>): void {
    this.#timeoutMs = timeoutOf(new OptionReader('timeout', options, { timeoutMs: true }))
  }

  #expire(part: Scope): void {
    this.#timeouts++
    part.abort(new TimeoutError(`a call of "${this.name}"`, this.#timeoutMs))
    this.events.emit('timeout', { timeoutMs: this.#timeoutMs })
  }

  #tellLate(start: number, failure?: { readonly error: unknown }): void {
    this.#abandoned--
    this.events.emit('late', { ...failure, durationMs: this.clock.now() - start })
  }
}

/** Runs, and tells what came of it, a throw and a thenable of another realm included. */
function settle<T>(
  work: () => T | PromiseLike<T>,
  onValue: (value: T) => void,
  onError: (error: unknown) => void,
): void {
  try {
    // In a promise of its own only where it is none already: that is most of what a limit costs.
    Promise.resolve(work()).then(onValue, onError)
  } catch (error) {
    onError(error)
  }
}

function timeoutOf(read: OptionReader<Pick<TimeoutOptions, 'timeoutMs'>>): number {
  const ms = read.milliseconds('timeoutMs', undefined)
  return ms ?? read.refuse('timeoutMs', 'given, in whole milliseconds')
}

/**
 * A time limit for each call.
 *
 * @throws OptionError naming the option, what it takes and what it got
 */
export function timeout(options: TimeoutOptions): Timeout {
  return new Timeout(options)
}
