import { checkQuotas, type LimitAlgorithm, type Quota, type Store } from '@tidegate/contract'
import { OptionError } from '../errors'
import { describe, type OptionReader } from '../options'

/** A quota as an option. */
export interface QuotaOptions {
  /** Unlike that of any other of the policy. */
  readonly name: string
  /** What may be consumed in a window. */
  readonly limit: number
  readonly windowMs: number
  /** @default 'gcra' */
  readonly algorithm?: LimitAlgorithm | undefined
  /** `gcra`: what may be consumed at once. @default limit */
  readonly burst?: number | undefined
}

/** The options that say how much: one quota by itself, or a list. */
export interface QuotasOptions extends Partial<Omit<QuotaOptions, 'name'>> {
  readonly name: string
  /** Several, of which each must have enough left; instead of `limit` and `windowMs`. */
  readonly quotas?: readonly QuotaOptions[] | undefined
}

const SINGLE = ['limit', 'windowMs', 'algorithm', 'burst'] as const

/** @throws OptionError naming the option, what it takes and what it got */
export function quotasOf(read: OptionReader<QuotasOptions>, options: QuotasOptions): readonly Quota[] {
  const { policy } = read
  if (options.quotas === undefined) {
    for (const name of ['limit', 'windowMs'] as const) {
      if (!read.has(name)) read.refuse(name, 'given, or quotas')
    }
  } else {
    for (const name of SINGLE) read.exclude(name, 'quotas', 'each of the quotas says its own')
  }
  const given = options.quotas ?? [options as QuotaOptions]
  if (!Array.isArray(given)) return read.refuse('quotas', 'a list')
  const quotas = given.map(
    ({ name, limit, windowMs, algorithm = 'gcra', burst }: QuotaOptions): Quota => ({
      name,
      algorithm,
      limit,
      windowMs,
      ...(burst !== undefined && { burst }),
    }),
  )
  try {
    checkQuotas(quotas)
  } catch (error) {
    const { message } = error as Error
    // The name of the option as its user wrote it: one quota is no list to him.
    const said = options.quotas === undefined ? message.replaceAll('quotas[0].', '') : message
    throw new OptionError(/^[a-zA-Z]+/.exec(said)?.[0] ?? 'quotas', `${policy}: ${said}`)
  }
  return quotas
}

/** Policies of one name on one store count together, and so must mean the same. */
const known = new WeakMap<Store, Map<string, string>>()

/** Names beyond these are not compared: a name for each tenant must not be kept for ever. */
const MAX_NAMES = 10_000

/** @throws OptionError where another policy of this name has other quotas on this store */
export function refuseOtherQuotas(
  policy: string,
  store: Store,
  name: string,
  quotas: readonly Quota[],
): void {
  const names = known.get(store) ?? new Map<string, string>()
  known.set(store, names)
  const text = JSON.stringify(quotas)
  const other = names.get(name)
  if (other !== undefined && other !== text) {
    throw new OptionError(
      'name',
      `${policy}: there is one named ${describe(name)} with other quotas on this store; ` +
        'they would count together: give it another name',
    )
  }
  if (names.size < MAX_NAMES) names.set(name, text)
}

/** The policy of this name has other quotas from now on. */
export function replaceQuotas(store: Store, name: string, quotas: readonly Quota[]): void {
  known.get(store)?.set(name, JSON.stringify(quotas))
}
