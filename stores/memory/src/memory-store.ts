import type { Store } from '@tidegate/contract'
import { MemoryCache } from './cache'
import { MemoryCircuits } from './circuits'
import { MemoryLeases } from './leases/leases'
import { MemoryLimits } from './limits/limits'
import { type StoreClock, systemClock, Time } from './time'

export type { StoreClock } from './time'

export interface MemoryStoreOptions {
  /**
   * Kept at most: so many circuits, keys of limits, names of leases and cached
   * answers, each by themselves. When a part is full what has expired goes, and then
   *
   * - the least recently touched closed circuit; one that is open, half-open or
   *   isolated never does.
   * - the least recently used key that has half of all its limits left; one that has
   *   less only where there is no other, so that a flood of keys gives nobody a new start.
   * - no name of which a slot is taken.
   * - the least recently used answer.
   *
   * Where nothing may go, what needs room throws an error with the code `STORE_FULL`.
   * How long cached answers are it does not bound.
   *
   * @default 10_000
   */
  readonly maxKeys?: number | undefined
  /** @default the process' monotonic clock */
  readonly clock?: StoreClock | undefined
}

/** A store with all its parts. */
export type MemoryStore = Store & Required<Pick<Store, 'limits' | 'leases' | 'cache'>>

/**
 * A store in this process' memory: what policies in one process share. It answers
 * at once and sets no timer.
 *
 * @throws TypeError naming the option, what it takes and what it got
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { maxKeys = 10_000, clock = systemClock, ...others } = options
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) {
    throw new TypeError(`memoryStore: there is no option ${unknown}; there are clock, maxKeys`)
  }
  if (!Number.isSafeInteger(maxKeys) || maxKeys < 1) {
    throw new TypeError(`memoryStore: maxKeys must be a whole number, at least 1, got ${describe(maxKeys)}`)
  }
  if (typeof clock?.now !== 'function') {
    throw new TypeError(`memoryStore: clock must have a method now, got ${describe(clock)}`)
  }
  const time = new Time(clock)
  const circuits = new MemoryCircuits(maxKeys, time)
  const limits = new MemoryLimits(maxKeys, time)
  const leases = new MemoryLeases(maxKeys, time)
  const cache = new MemoryCache(maxKeys, time)
  return {
    supports: { windows: ['time', 'consecutive', 'count'], push: true, shared: false },
    circuits,
    limits,
    leases,
    cache,
    ping() {},
    async close() {
      circuits.close()
      limits.close()
      leases.close()
      cache.close()
    },
  }
}

function describe(value: unknown): string {
  if (typeof value === 'string') return `'${value.slice(0, 40)}'`
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
