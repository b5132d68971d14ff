import type { Store } from '@tidegate/contract'
import { MemoryCircuits } from './circuits'
import { type StoreClock, systemClock, Time } from './time'

export type { StoreClock } from './time'

export interface MemoryStoreOptions {
  /**
   * Circuits kept at most. When it is full the least recently touched closed one
   * goes; one that is open, half-open or isolated never does.
   *
   * @default 10_000
   */
  readonly maxKeys?: number | undefined
  /** @default the process' monotonic clock */
  readonly clock?: StoreClock | undefined
}

/**
 * A store in this process' memory: what breakers in one process share. It answers
 * at once and sets no timer.
 *
 * @throws TypeError naming the option, what it takes and what it got
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
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
  const circuits = new MemoryCircuits(maxKeys, new Time(clock))
  return {
    supports: { windows: ['time', 'consecutive', 'count'], push: true, shared: false },
    circuits,
    ping() {},
    async close() {
      circuits.close()
    },
  }
}

function describe(value: unknown): string {
  if (typeof value === 'string') return `'${value.slice(0, 40)}'`
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
