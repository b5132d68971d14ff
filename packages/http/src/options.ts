import { OptionError } from '@tidegate/core'

/** What an option takes, in words and as a test. */
export interface OptionRule {
  readonly takes: string
  fits(value: unknown): boolean
}

const LONGEST_MS = 2 ** 31 - 1

export const isFlag: OptionRule = {
  takes: 'true or false',
  fits: (value) => typeof value === 'boolean',
}

export const isDuration: OptionRule = {
  takes: `a whole number of milliseconds from 1 to ${LONGEST_MS}`,
  fits: (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= LONGEST_MS,
}

/**
 * The options, each of them checked; an undefined one counts as left out.
 *
 * @param of whose options, as its user calls it
 * @throws OptionError naming the option, what it takes and what it got
 */
export function readOptions<Options extends object>(
  of: string,
  options: Options | undefined,
  rules: Readonly<Record<keyof Options, OptionRule>>,
): Partial<Options> {
  if (options === undefined) return {}
  if (typeof options !== 'object' || options === null) {
    throw new OptionError('options', `${of}: options must be an object, got ${describe(options)}`)
  }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(rules, name)) {
      const names = Object.keys(rules).sort().join(', ')
      throw new OptionError(name, `${of}: there is no option ${name}; there are ${names}`)
    }
    const { takes, fits } = rules[name as keyof Options]
    if (value !== undefined && !fits(value)) {
      throw new OptionError(name, `${of}: ${name} must be ${takes}, got ${describe(value)}`)
    }
  }
  return { ...options }
}

/** A value in a message: itself if it is plain, else its kind, for what is in it may be a secret. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return value.length > 40 ? 'a long string' : `'${value}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  return String(value)
}
