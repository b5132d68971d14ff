import type { MaybePromise } from './circuit'

export interface CacheEntry {
  readonly value: string
  /** How old it is, in whole ms, by the store's clock; at least 0. */
  readonly ageMs: number
}

/** Cache: last good answers, as text. What a store has no room for it may forget at any time. */
export interface CacheStore {
  /** Undefined where there is none, or where it has outlived its time. */
  get(key: string): MaybePromise<CacheEntry | undefined>
  /** @param ttlMs how long it is kept; whole milliseconds, at least 1 */
  set(key: string, value: string, options: { readonly ttlMs: number }): MaybePromise<void>
  delete(key: string): MaybePromise<void>
}
