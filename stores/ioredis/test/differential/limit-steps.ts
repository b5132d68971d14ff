import type { LimitAlgorithm, Quota } from '@tidegate/contract'
import fc from 'fast-check'

/** What comes next; a reservation is the latest of its key, or so many before it. */
export type LimitStep = { readonly waitMs: number; readonly key: string } & (
  | { readonly is: 'consume'; readonly quotas: readonly Quota[]; readonly cost: number }
  | { readonly is: 'peek'; readonly quotas: readonly Quota[] }
  | {
      readonly is: 'settle'
      /** Those of the consumption where left out. */
      readonly quotas: readonly Quota[] | undefined
      readonly back: number
      readonly cost: number
    }
  | { readonly is: 'reset' }
)

export interface LimitWorld {
  readonly names: readonly string[]
  readonly windows: readonly number[]
  readonly waits: readonly number[]
}

const ALGORITHMS: readonly LimitAlgorithm[] = ['gcra', 'sliding-window', 'fixed-window']

/** @param setsBack whether the clock is set back at times */
export function limitSteps(
  { names, windows, waits }: LimitWorld,
  setsBack: boolean,
): fc.Arbitrary<LimitStep[]> {
  // Two limits to a slot: they differ while a deploy rolls.
  const quota = fc.record({
    name: fc.constantFrom(...names),
    algorithm: fc.constantFrom(...ALGORITHMS),
    limit: fc.constantFrom(4, 7),
    windowMs: fc.constantFrom(...windows),
    burst: fc.constantFrom(undefined, 1, 5, 9),
  })
  const quotas = fc
    .uniqueArray(quota, { minLength: 1, maxLength: 3, selector: ({ name }) => name })
    .map((list): Quota[] =>
      list.map(({ burst, ...rest }) =>
        rest.algorithm === 'gcra' && burst !== undefined ? { ...rest, burst } : rest,
      ),
    )
  const key = fc.constantFrom('a|1', 'a|{2}')
  const cost = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom(0, 4, 5, 8, 12) },
  )
  const waitMs = fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 8, arbitrary: fc.constantFrom(...waits).chain((most) => fc.integer({ min: 1, max: most })) },
    { weight: 3, arbitrary: fc.constantFrom(...windows) },
    { weight: setsBack ? 1 : 0, arbitrary: fc.constantFrom(...waits).map((most) => -most) },
  )
  const step = fc.oneof(
    { weight: 10, arbitrary: fc.record({ is: fc.constant('consume' as const), quotas, cost }) },
    { weight: 3, arbitrary: fc.record({ is: fc.constant('peek' as const), quotas }) },
    {
      weight: 6,
      arbitrary: fc.record({
        is: fc.constant('settle' as const),
        quotas: fc.option(quotas, { nil: undefined, freq: 4 }),
        back: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(6) }),
        cost,
      }),
    },
    { weight: 1, arbitrary: fc.constant({ is: 'reset' as const }) },
  )
  return fc.array(
    fc.tuple(waitMs, key, step).map(([waitMs, key, step]): LimitStep => ({ waitMs, key, ...step })),
    { minLength: 1, maxLength: 60, size: 'max' },
  )
}
