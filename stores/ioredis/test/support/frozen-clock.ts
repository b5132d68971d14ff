import type { Store } from '@tidegate/contract'
import { storeOver } from '../../src/ioredis-store'
import type { Client } from './clients'
import { scriptsWithClock } from './scripted-clock'

const NOW = 'test:now'

const scripts = scriptsWithClock(`local function clock_us() return redis.call('GET', '${NOW}') * 1000 end`)

/** A store whose time stands still, but for the hand that sets it. */
export interface FrozenClock {
  readonly store: Store
  /** From the next command of this client on it is then, in epoch ms. */
  set(now: number): Promise<unknown>
}

export function frozenClock(redis: Client): FrozenClock {
  // On one connection commands stay in their order.
  return { store: storeOver(redis, {}, scripts), set: (now) => redis.set(NOW, now) }
}
