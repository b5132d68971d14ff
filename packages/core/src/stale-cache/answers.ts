import type { CacheEntry } from '@tidegate/contract'
import { checkCount, fieldsOf, unreadable } from '../store/answers'

/** What a cache says, in an object also where it has nothing. */
export interface Found {
  readonly entry: CacheEntry | undefined
}

/**
 * An answer of a store's cache, checked before it is believed.
 *
 * @throws StoreError where it is none
 */
export function readFound(answer: unknown): Found {
  if (answer === undefined || answer === null) return { entry: undefined }
  const { value, ageMs } = fieldsOf(answer, 'a cached answer')
  if (typeof value !== 'string') throw unreadable('value', value)
  checkCount('ageMs', ageMs)
  return { entry: answer as CacheEntry }
}
