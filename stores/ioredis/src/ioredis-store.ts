import type { Store } from '@tidegate/contract'
import { type CircuitScripts, channelOf, RedisCircuits, readMessage } from '@tidegate/redis-lua'
import { Channels } from './channels'
import type { RedisClient, SubscriberClient } from './client'
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
   * @default one like `redis`, made when the first breaker listens
   */
  readonly subscriber?: SubscriberClient | undefined
}

/** Statuses of a client that is, or at the first command will be, connected. */
const READY: readonly string[] = ['ready', 'wait']

/**
 * A store on Redis 6.2 or later, or Valkey, over your client of ioredis: a `Redis`, by
 * Sentinel or not, or a `Cluster`. The client stays yours: it is not configured, not
 * connected before the first command, and not closed. Nothing is sent here.
 *
 * @throws TypeError naming the option, what it takes and what it got
 */
export function ioredisStore(redis: RedisClient, options: IoredisStoreOptions = {}): Store {
  return storeOver(redis, options)
}

/** @param scripts of a test's own, with another clock */
export function storeOver(
  redis: RedisClient,
  { prefix = 'tidegate', subscriber, ...others }: IoredisStoreOptions,
  scripts?: CircuitScripts,
): Store {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw invalid(`there is no option ${unknown}; there are prefix, subscriber`)
  if (!hasMethods(redis, ['evalsha', 'eval', 'ping', 'duplicate'])) {
    throw invalid('it takes a client of ioredis, a Redis or a Cluster, as its first argument')
  }
  if (typeof prefix !== 'string' || !/^[^{}\s]+$/.test(prefix)) {
    throw invalid('prefix must be a string without braces and blanks, and not empty')
  }
  if (subscriber !== undefined && !hasMethods(subscriber, ['subscribe', 'unsubscribe', 'on', 'off'])) {
    throw invalid('subscriber must be a client of ioredis')
  }
  if (subscriber === (redis as unknown)) {
    throw invalid('subscriber must be another client: one that listens can send no commands')
  }
  const circuits = new RedisCircuits(sendOver(redis), prefix, scripts)
  const channels = new Channels(redis, subscriber)
  return {
    supports: { windows: ['time', 'consecutive'], push: true, shared: true },
    circuits: {
      readState: (...args) => circuits.readState(...args),
      compareAndSet: (...args) => circuits.compareAndSet(...args),
      record: (...args) => circuits.record(...args),
      forget: (...args) => circuits.forget(...args),
      subscribe: (name, listener) =>
        channels.listen(channelOf(prefix, name), (message) => listener(readMessage(message))),
    },
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
  return (
    typeof value === 'object' &&
    value !== null &&
    methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function')
  )
}

function invalid(message: string): TypeError {
  return new TypeError(`ioredisStore: ${message}`)
}
