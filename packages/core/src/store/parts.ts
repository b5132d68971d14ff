import type { Store } from '@tidegate/contract'
import type { OptionReader } from '../options'

/** The parts of a store that it may be without. */
type PartName = 'limits' | 'leases' | 'cache'

/** What one asks of each, to know it for one. */
const METHOD = { limits: 'consume', leases: 'acquire', cache: 'get' } as const

export type StoreWith<Name extends PartName> = Store & { readonly [Part in Name]-?: NonNullable<Store[Part]> }

/**
 * The option `store` of a policy that cannot do without this part of it; undefined where it is left out.
 *
 * @throws OptionError where it is no store, or has no such part
 */
export function storeWith<Name extends PartName>(
  read: OptionReader<{ store?: unknown }>,
  name: Name,
): StoreWith<Name> | undefined {
  const hasPart = (value: unknown): boolean => {
    const part = (value as Partial<Store> | null)?.[name] as
      | Readonly<Record<string, unknown>>
      | null
      | undefined
    return typeof part?.[METHOD[name]] === 'function'
  }
  return read.read<StoreWith<Name>, undefined>('store', undefined, `a store that has ${name}`, hasPart)
}
