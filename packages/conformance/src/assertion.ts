/** What a case found. Runners show `expected` and `actual` side by side where they can. */
export class ConformanceError extends Error {
  override readonly name = 'ConformanceError'
  readonly expected: unknown
  readonly actual: unknown

  constructor(message: string, expected: unknown, actual: unknown) {
    super(`${message}: expected ${shown(expected)}, got ${shown(actual)}`)
    this.expected = expected
    this.actual = actual
  }
}

/** Strings, numbers, booleans and undefined: all that answers are made of. */
type Plain = string | number | boolean | undefined

export function same(actual: Plain, expected: Plain, what: string): void {
  if (!Object.is(actual, expected)) throw new ConformanceError(what, expected, actual)
}

/** Compares the fields named by `expected`, and no others. */
export function matches(actual: object, expected: Readonly<Record<string, Plain>>, what: string): void {
  for (const [field, value] of Object.entries(expected)) {
    same((actual as Record<string, Plain>)[field], value, `${what}, ${field}`)
  }
}

/** Two moments of the store's clock, of which a store may keep no more than the millisecond. */
export function sameMoment(actual: number | undefined, expected: number, what: string): void {
  if (actual === undefined || !(Math.abs(actual - expected) <= 1))
    throw new ConformanceError(what, expected, actual)
}

export function holds(condition: boolean, what: string): void {
  if (!condition) throw new ConformanceError(what, true, false)
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
