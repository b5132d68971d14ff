import { type IoredisStore, storeOver } from '../../src/ioredis-store'
import type { Client } from './clients'
import { scriptsWithClock } from './scripted-clock'

const NOW = 'test:now'

const CLOCK = `local function clock_us() return redis.call('GET', '${NOW}') * 1000 end`

/** Redis' own expiry goes by real time, in which a window of some ms ends while the hand stands still. */
const LASTING = `
local server = redis
local redis = { pcall = server.pcall }
function redis.call(command, ...)
  if command == 'PEXPIRE' then return 1 end
  local given = { ... }
  if command == 'SET' then return server.call(command, given[1], given[2]) end
  return server.call(command, unpack(given))
end`

const scripts = scriptsWithClock(CLOCK)
const lastingScripts = scriptsWithClock(`${LASTING}\n${CLOCK}`)

/** A store whose time stands still, but for the hand that sets it. */
export interface FrozenClock {
  readonly store: IoredisStore
  /** From the next command of this client on it is then, in epoch ms. */
  set(now: number): Promise<unknown>
}

/** @param isLasting whether nothing expires of itself */
export function frozenClock(redis: Client, isLasting: boolean = false): FrozenClock {
  // On one connection commands stay in their order.
  return {
    store: storeOver(redis, {}, isLasting ? lastingScripts : scripts),
    set: (now) => redis.set(NOW, now),
  }
}
