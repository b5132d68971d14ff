import type { Store } from '@tidegate/contract'
import {
  channelOf,
  RedisCache,
  RedisCircuits,
  RedisLeases,
  RedisLimits,
  readMessage,
  type Scripts,
} from '@tidegate/redis-lua'
import { Channels } from './channels'
import type { RedisClient, SubscriberClient } from './client'
import { GivenLine } from './given-line'
import { OwnLine } from './own-line'
import { sendOver } from './send'

export interface IoredisStoreOptions {
  /**
   * What every key and channel begins with: two fleets on one server have two.
   *
   * @default 'tidegate'
   */
  readonly prefix?: string | undefined
  /**
   * A connection of your own to hear of swaps on; it is never closed.
   *
   * @default one like `redis`, made when the first breaker listens, closed with the last
   */
  readonly subscriber?: SubscriberClient | undefined
}

/** A store with all its parts. */
export type IoredisStore = Store & Required<Pick<Store, 'limits' | 'leases' | 'cache'>>

/** Statuses of a client that is, or at the first command will be, connected. */
const READY: readonly string[] = ['ready', 'wait']

/**
 * A store on Redis 6.2 or later, or Valkey, over your client of ioredis: a `Redis`, by
 * Sentinel or not, or a `Cluster`. The client stays yours: it is not configured, not
 * connected before the first command, and not closed. Nothing is sent here.
 *
 * @throws TypeError naming the option, what it takes and what it got
 */
export function ioredisStore(redis: RedisClient, options: IoredisStoreOptions = {}): IoredisStore {
  return storeOver(redis, options)
}

/** @param scripts of a test's own, with another clock */
export function storeOver(
  redis: RedisClient,
  { prefix = 'tidegate', subscriber, ...others }: IoredisStoreOptions,
  scripts?: Scripts,
): IoredisStore {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw invalid(`there is no option ${unknown}; there are prefix, subscriber`)
  if (!hasMethods(redis, ['evalsha', 'eval', 'ping', 'duplicate']) || !isObject(redis.options)) {
    throw invalid(`redis must be a client of ioredis, a Redis or a Cluster, got ${describe(redis)}`)
  }
  if (typeof prefix !== 'string' || !/^[^{}\s]+$/.test(prefix)) {
    throw invalid(`prefix must be a string without braces and blanks, and not empty, got ${describe(prefix)}`)
  }
  if (subscriber !== undefined && !hasMethods(subscriber, ['subscribe', 'unsubscribe', 'on', 'off'])) {
    throw invalid(`subscriber must be a client of ioredis, got ${describe(subscriber)}`)
  }
  if (subscriber === (redis as unknown)) {
    throw invalid('subscriber must be another client: one that listens can send no commands')
  }
  const { keyPrefix = '', db = 0 } = redis.options
  const channel = (name: string): string => channelOf(keyPrefix + prefix, name, db)
  const send = sendOver(redis)
  const circuits = new RedisCircuits(send, prefix, channel, scripts)
  const channels = new Channels((events) =>
    subscriber === undefined ? new OwnLine(redis, events) : new GivenLine(subscriber, events),
  )
  return {
    supports: { windows: ['time', 'consecutive'], push: true, shared: true },
    circuits: {
      readState: (...args) => circuits.readState(...args),
      compareAndSet: (...args) => circuits.compareAndSet(...args),
      record: (...args) => circuits.record(...args),
      forget: (...args) => circuits.forget(...args),
      subscribe: (name, listener) =>
        channels.listen(channel(name), (message) => listener(readMessage(message))),
    },
    limits: new RedisLimits(send, prefix, scripts),
    leases: new RedisLeases(send, prefix, scripts),
    cache: new RedisCache(send, prefix, scripts),
    ready: () => READY.includes(redis.status),
    async ping() {
      await redis.ping()
    },
    async close() {
      channels.close()
    },
  }
}

function hasMethods(value: unknown, methods: readonly string[]): boolean {
  return isObject(value) && methods.every((method) => typeof value[method] === 'function')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function describe(value: unknown): string {
  if (typeof value === 'string') return `'${value.slice(0, 40)}'`
  return isObject(value) ? 'an object' : String(value)
}

function invalid(message: string): TypeError {
  return new TypeError(`ioredisStore: ${message}`)
}
