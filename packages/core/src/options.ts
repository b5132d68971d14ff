import type { Clock } from './clock'
import { OptionError } from './errors'

const MAX_MS = 2 ** 31 - 1

/**
 * Reads the options of one policy, each once, and says what is wrong with one in
 * one form: its name, what it takes, what it got. Nothing is coerced.
 */
export class OptionReader<Options extends object> {
  /** Whose options they are. */
  readonly policy: string
  readonly #given: Readonly<Record<string, unknown>>

  /** @throws OptionError for an option that is not among `known` */
  constructor(policy: string, given: Options, known: Readonly<Record<keyof Options, true>>) {
    this.policy = policy
    if (typeof given !== 'object' || given === null) {
      throw new OptionError('options', `${policy}: options must be an object, got ${describe(given)}`)
    }
    for (const name of Object.keys(given)) {
      if (Object.hasOwn(known, name)) continue
      const names = Object.keys(known).sort().join(', ')
      throw new OptionError(name, `${policy}: there is no option ${name}; there are ${names}`)
    }
    this.#given = given as Record<string, unknown>
  }

  has(name: keyof Options & string): boolean {
    return this.#given[name] !== undefined
  }

  /** A whole number of milliseconds, from `least` to the longest that timers take. */
  milliseconds<D>(name: keyof Options & string, fallback: D, least = 1): number | D {
    const takes = `a whole number of milliseconds from ${least} to ${MAX_MS}`
    return this.read(name, fallback, takes, (value) => isWhole(value, least) && (value as number) <= MAX_MS)
  }

  count<D>(name: keyof Options & string, fallback: D, least = 1): number | D {
    return this.read(name, fallback, `a whole number, at least ${least}`, (value) => isWhole(value, least))
  }

  /** Above 0 and at most 1. */
  rate<D>(name: keyof Options & string, fallback: D): number | D {
    const isRate = (value: unknown) => typeof value === 'number' && value > 0 && value <= 1
    return this.read(name, fallback, 'a number above 0 and at most 1', isRate)
  }

  oneOf<Choice extends string>(
    name: keyof Options & string,
    choices: readonly Choice[],
    fallback: Choice,
  ): Choice {
    const takes = choices.map((choice) => `'${choice}'`).join(' or ')
    return this.read(name, fallback, takes, (value) => choices.includes(value as Choice))
  }

  text(name: keyof Options & string): string {
    const isText = (value: unknown) => typeof value === 'string' && value.length > 0
    return this.required(name, 'a string that is not empty', isText)
  }

  function<F, D>(name: keyof Options & string, fallback: D): F | D {
    return this.read<F, D>(name, fallback, 'a function', (value) => typeof value === 'function')
  }

  boolean(name: keyof Options & string, fallback: boolean): boolean {
    return this.read(name, fallback, 'true or false', (value) => typeof value === 'boolean')
  }

  required<T>(name: keyof Options & string, takes: string, isValid: (value: unknown) => boolean): T {
    const value = this.#given[name]
    if (!isValid(value)) this.refuse(name, takes)
    return value as T
  }

  read<T, D>(
    name: keyof Options & string,
    fallback: D,
    takes: string,
    isValid: (value: unknown) => boolean,
  ): T | D {
    return this.#given[name] === undefined ? fallback : this.required<T>(name, takes, isValid)
  }

  /** @throws OptionError always: the value does not fit */
  refuse(name: keyof Options & string, takes: string): never {
    const got = describe(this.#given[name])
    throw new OptionError(name, `${this.policy}: ${name} must be ${takes}, got ${got}`)
  }

  /** @throws OptionError if both are there */
  exclude(name: keyof Options & string, other: keyof Options & string, why: string): void {
    if (!this.has(name) || !this.has(other)) return
    throw new OptionError(name, `${this.policy}: ${name} and ${other} exclude each other: ${why}`)
  }
}

/**
 * The options of a policy with others in their place, for it to be built from anew.
 *
 * @throws OptionError for one that is fixed while it lives
 */
export function merge<Options extends object>(
  policy: string,
  options: Options,
  changes: NoInfer<Partial<Options>>,
  fixed: readonly NoInfer<keyof Options & string>[],
): Options {
  if (typeof changes !== 'object' || changes === null) {
    throw new OptionError('options', `${policy}: options must be an object, got ${describe(changes)}`)
  }
  for (const name of fixed) {
    if (!Object.hasOwn(changes, name)) continue
    throw new OptionError(name, `${policy}: ${name} cannot be changed while the policy lives`)
  }
  return { ...options, ...changes }
}

export function isWhole(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least
}

/** Options, and not an array, a Map or an object with a class. */
export function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

export function isClock(value: unknown): boolean {
  const { now, setTimeout } = (value ?? {}) as Partial<Clock>
  return typeof now === 'function' && typeof setTimeout === 'function'
}

/** A value in a message: itself if it is plain, else its kind, for a client or a header may hold a secret. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return value.length > 40 ? 'a long string' : `'${value}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  return String(value)
}
