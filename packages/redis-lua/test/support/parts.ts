import type { RedisServer } from '../../../../test/support/redis/index'
import { RedisCache, RedisLeases, RedisLimits, type Send } from '../../src'

export interface Parts {
  readonly limits: RedisLimits
  readonly leases: RedisLeases
  readonly cache: RedisCache
}

/** Limits, leases and cache over whatever sends their scripts. */
export function partsBy(send: Send): Parts {
  return {
    limits: new RedisLimits(send, 'tidegate'),
    leases: new RedisLeases(send, 'tidegate'),
    cache: new RedisCache(send, 'tidegate'),
  }
}

/** The same over the plainest of clients. */
export function partsOver(server: RedisServer): Parts {
  return partsBy((script, keys, args) => server.command('EVAL', script.text, keys.length, ...keys, ...args))
}
