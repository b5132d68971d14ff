import type { Tally, Terms } from '@tidegate/contract'
import type { RedisServer } from '../../../../test/support/redis/index'
import { channelOf, RedisCircuits } from '../../src'

/** Circuits over the plainest of clients. */
export function circuitsOver(server: RedisServer): RedisCircuits {
  return new RedisCircuits(
    (script, keys, args) => server.command('EVAL', script.text, keys.length, ...keys, ...args),
    'tidegate',
    (name) => channelOf('tidegate', name),
  )
}

let nonces = 0

export function terms(over: Partial<Terms> = {}): Terms {
  return {
    instance: 'instance',
    nonce: `nonce-${++nonces}`,
    window: { kind: 'time', ms: 60_000 },
    cooldownMs: 1,
    leaseMs: 1,
    ...over,
  }
}

export function failures(seq: number, count: number = 1): Tally {
  return { seq, successes: 0, failures: count, slow: 0, trailingFailures: count }
}
