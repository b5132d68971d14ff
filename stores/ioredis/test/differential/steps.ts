import { type CircuitState, type CircuitWindow, windowSpanMs } from '@tidegate/contract'
import fc from 'fast-check'

/** What comes next, told apart from what it will be about: a fence is the present one, or so many before it. */
export type Step = { readonly waitMs: number } & (
  | { readonly is: 'read'; readonly by: string; readonly window: CircuitWindow }
  | SwapStep
  | RecordStep
  | { readonly is: 'again'; readonly back: number }
  | { readonly is: 'forget' }
)

export interface SwapStep {
  readonly is: 'swap'
  readonly by: string
  readonly window: CircuitWindow
  /** The present one where left out. */
  readonly from: CircuitState | undefined
  readonly to: CircuitState
  readonly fencesBack: number
  readonly deadlineIn: number | undefined
  readonly cooldownMs: number
  readonly leaseMs: number
  /** The owner of the permit where left out. */
  readonly owner: string | undefined
  readonly yield: boolean
  readonly succeeded: boolean
}

export interface RecordStep {
  readonly is: 'record'
  readonly by: string
  readonly window: CircuitWindow
  readonly fencesBack: number
  readonly deadlineIn: number | undefined
  /** Below 1 it is a number that was there before. */
  readonly seqOn: number
  readonly leading: number
  readonly successes: number
  readonly trailing: number
  readonly slow: number
}

const by = fc.constantFrom('a', 'b', 'c|{d}')
/** Mostly the present one: an old one is always refused. */
const fencesBack = fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(4) })
const deadlineIn = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 2, arbitrary: fc.constantFrom(-1, 0, 1) },
  { weight: 1, arbitrary: fc.constant(60_000) },
)
const states = fc.constantFrom<CircuitState>('closed', 'open', 'half-open', 'isolated')

/**
 * Moments and the lengths of windows lie so that buckets end everywhere among them,
 * and so that instances leave the fleet. Never so long that the circuit would go.
 */
const waitMs = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 40 }) },
  { weight: 3, arbitrary: fc.integer({ min: 41, max: 2_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 2_001, max: 50_000 }) },
)

export function steps(windows: readonly CircuitWindow[]): fc.Arbitrary<Step[]> {
  const window = fc.constantFrom(...windows)
  const read = fc.record({ is: fc.constant('read' as const), by, window })
  const swap = fc.record({
    is: fc.constant('swap' as const),
    by,
    window,
    from: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: states }),
    // Half-open is the likeliest: most can go wrong there, and any other swap ends it.
    to: fc.oneof(
      { weight: 2, arbitrary: fc.constant<CircuitState>('half-open') },
      { weight: 3, arbitrary: states },
    ),
    fencesBack,
    deadlineIn,
    cooldownMs: fc.integer({ min: 1, max: 60 }),
    leaseMs: fc.integer({ min: 1, max: 120 }),
    owner: fc.oneof(fc.constant(undefined), by),
    yield: fc.boolean(),
    succeeded: fc.boolean(),
  })
  const record = fc.record({
    is: fc.constant('record' as const),
    by,
    window,
    fencesBack,
    deadlineIn,
    seqOn: fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 1, max: 3 }) },
      { weight: 1, arbitrary: fc.constantFrom(0, -1) },
    ),
    leading: fc.nat(3),
    successes: fc.nat(3),
    trailing: fc.nat(3),
    slow: fc.nat(9),
  })
  const again = fc.record({ is: fc.constant('again' as const), back: fc.nat(3) })
  const forget = fc.constant({ is: 'forget' as const })
  const command = fc.oneof(
    { weight: 2, arbitrary: read },
    { weight: 8, arbitrary: swap },
    { weight: 12, arbitrary: record },
    { weight: 4, arbitrary: again },
    { weight: 1, arbitrary: forget },
  )
  return fc.array(
    fc.tuple(waitMs, command).map(([waitMs, command]): Step => ({ waitMs, ...command })),
    { minLength: 1, maxLength: 60, size: 'max' },
  )
}

/** Ends, to the millisecond, of what chance hardly ever meets: the fleet's minute, a window since the circuit closed. */
export function atTheLimits(window: CircuitWindow): Step[] {
  const read = (waitMs: number, by: string): Step => ({ is: 'read', waitMs, by, window })
  const swap = (waitMs: number, to: CircuitState): Step => ({
    is: 'swap',
    waitMs,
    by: 'a',
    window,
    from: undefined,
    to,
    fencesBack: 0,
    deadlineIn: undefined,
    cooldownMs: 10,
    leaseMs: 20,
    owner: 'a',
    yield: false,
    succeeded: false,
  })
  const span = windowSpanMs(window)
  const [first, second] = [Math.floor(span / 2), span - Math.floor(span / 2)]
  return [
    read(0, 'b'),
    read(50_000, 'a'),
    read(10_000, 'a'),
    read(1, 'a'),
    swap(0, 'open'),
    swap(9, 'half-open'),
    swap(1, 'half-open'),
    swap(19, 'half-open'),
    swap(1, 'half-open'),
    swap(0, 'closed'),
    read(first, 'a'),
    swap(0, 'closed'),
    read(second - 1, 'a'),
    read(1, 'a'),
  ]
}
