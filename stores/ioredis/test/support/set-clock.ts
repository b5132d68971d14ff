import type { RedisServer } from '../../../../test/support/redis/index'
import { type IoredisStore, storeOver } from '../../src/ioredis-store'
import type { Client } from './clients'
import { scriptsWithClock } from './scripted-clock'

const OFFSET = 'test:offset'

/** The server's clock, and what a hand set it by. */
const scripts = scriptsWithClock(`
local function clock_us()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2] + (redis.call('GET', '${OFFSET}') or 0)
end`)

/** As if so much time had passed for whatever expires: what has less left is gone. */
const EXPIRE = `
for _, key in ipairs(redis.call('KEYS', 'tidegate:*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 and left <= tonumber(ARGV[1]) then redis.call('DEL', key)
  elseif left >= 0 then redis.call('PEXPIRE', key, string.format('%.0f', left - ARGV[1])) end
end`

/** A server whose time is set by hand, to the stores that are made here. */
export interface SetClock {
  storeOver(redis: Client): IoredisStore
  /** Sets the clock, and nothing else. */
  step(ms: number): Promise<unknown>
  /** Lets time pass, for the clock and for what expires. */
  leap(ms: number): Promise<unknown>
  /** Loses everything but the time. */
  flush(): Promise<unknown>
}

export function setClock(server: RedisServer): SetClock {
  let offset = 0
  const step = (ms: number): Promise<unknown> => {
    offset += Math.round(ms * 1000)
    return server.command('SET', OFFSET, offset)
  }
  return {
    storeOver: (redis) => storeOver(redis, {}, scripts),
    step,
    async leap(ms) {
      await step(ms)
      await server.command('EVAL', EXPIRE, 0, Math.round(ms))
    },
    async flush() {
      await server.command('FLUSHALL')
      await step(0)
    },
  }
}
