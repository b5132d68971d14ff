import type { Scope } from '../call/scope'
import { type Clock, systemClock } from '../clock'
import { OptionError } from '../errors'
import { OptionReader } from '../options'
import { Layer, type Next } from '../policy'

/** What an error is replaced by: a value, or what a function makes of the error. */
export type Replacement<T> =
  | T
  | ((
      error: unknown,
      call: { readonly key: string | undefined; readonly metadata: unknown },
    ) => T | PromiseLike<T>)

export interface FallbackOptions {
  readonly name: string
  /**
   * What a failed call comes to: a value; a function of the error; or a list of those,
   * each tried where the one before it threw. A function that is itself the value stands
   * within another: `() => fn`. So does a list: `() => [1, 2]`.
   */
  readonly fallback: unknown
  /** Whether an error is to be replaced. @default every error, but those of a caller who went away or of a wrong use */
  readonly shouldHandle?: ((error: unknown) => boolean) | undefined
}

export interface FallbackEvents {
  /** An error was replaced, by the one of the list that stands at `index`. */
  fallback: { readonly error: unknown; readonly index: number }
}

export interface FallbackStats {
  readonly calls: number
  /** Calls that came to a replacement. */
  readonly replaced: number
}

const KNOWN = { name: true, fallback: true, shouldHandle: true } as const
const EVENTS = { fallback: true } as const

/** Answers something else where a call failed. A caller who went away is not answered at all. */
export class Fallback extends Layer<FallbackEvents> {
  readonly kind = 'fallback'
  readonly name: string
  #replacements: readonly Replacement<unknown>[]
  readonly #shouldHandle: (error: unknown) => boolean
  #calls = 0
  #replaced = 0

  /** Use `fallback(options)`. */
  constructor(options: FallbackOptions) {
    super()
    const read = new OptionReader('fallback', options, KNOWN)
    this.name = read.text('name')
    this.#replacements = replacementsOf(options)
    this.#shouldHandle = read.function('shouldHandle', () => true)
  }

  get clock(): Clock {
    return systemClock
  }

  protected get eventNames(): typeof EVENTS {
    return EVENTS
  }

  async run<T>(next: Next<T>, scope: Scope): Promise<T> {
    this.#calls++
    try {
      return await next(scope)
    } catch (error) {
      if (scope.aborted || error instanceof OptionError || !this.#isToHandle(error)) throw error
      return await this.#replace<T>(error, scope)
    }
  }

  stats(): FallbackStats {
    return { calls: this.#calls, replaced: this.#replaced }
  }

  /**
   * Another replacement, from the next call on.
   *
   * @throws OptionError where there is none
   */
  reconfigure(options: Pick<FallbackOptions, 'fallback'>): void {
    // Refuses what it does not know, before anything is changed.
    new OptionReader<Pick<FallbackOptions, 'fallback'>>('fallback', options, { fallback: true })
    this.#replacements = replacementsOf(options)
  }

  /** One after another; where all throw, what the last one threw, which was given the error before it. */
  async #replace<T>(error: unknown, { call }: Scope): Promise<T> {
    let last: unknown = error
    for (const [index, replacement] of this.#replacements.entries()) {
      try {
        const { key, metadata } = call
        const value: unknown =
          typeof replacement === 'function' ? await replacement(last, { key, metadata }) : replacement
        this.#replaced++
        this.events.emit('fallback', { error, index })
        return value as T
      } catch (thrown) {
        last = thrown
      }
    }
    throw last
  }

  // What the user's rule throws is said, and the error stays what it is.
  #isToHandle(error: unknown): boolean {
    try {
      return this.#shouldHandle(error) === true
    } catch (ruleError) {
      this.events.complain('shouldHandle', ruleError)
      return false
    }
  }
}

function replacementsOf(options: Pick<FallbackOptions, 'fallback'>): readonly Replacement<unknown>[] {
  // What is undefined may well be meant, and be said.
  if (!Object.hasOwn(options, 'fallback')) {
    throw new OptionError(
      'fallback',
      'fallback: fallback must be given: a value, a function, or a list of those',
    )
  }
  const { fallback } = options
  const list: readonly unknown[] = Array.isArray(fallback) ? fallback : [fallback]
  if (list.length === 0) throw new OptionError('fallback', 'fallback: fallback must not be an empty list')
  return list as readonly Replacement<unknown>[]
}

/**
 * Answers something else where a call failed.
 *
 * @throws OptionError naming the option, what it takes and what it got
 */
export function fallback(options: FallbackOptions): Fallback {
  return new Fallback(options)
}
