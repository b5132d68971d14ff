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

/** For durations and numbers of which a store may come with less. */
export function atMost(actual: number, bound: number, what: string): void {
  if (!(actual <= bound)) throw new ConformanceError(what, `at most ${bound}`, actual)
}

/** A command that is none: refused with a TypeError, at once or as a rejection. */
export async function refused(command: () => unknown, what: string): Promise<void> {
  let outcome = 'an answer'
  try {
    await command()
  } catch (error) {
    // By its name, for a test environment may have a TypeError of its own.
    outcome = error instanceof Error ? error.name : String(error)
  }
  same(outcome, 'TypeError', what)
}

export function holds(condition: boolean, what: string): void {
  if (!condition) throw new ConformanceError(what, true, false)
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
