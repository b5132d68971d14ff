import type { RedisClient, SubscriberClient } from './client'

type Listener = (message: string) => void

/** Retries a lost connection ever more rarely, up to once in this many ms. */
const LONGEST_RETRY_MS = 2_000

/**
 * Channels listened to, over one connection of its own that is made with the first
 * listener and given up with the last. Best effort: while it is down nothing is
 * heard, nothing is queued, and nothing is thrown.
 *
 * Plain channels, in Cluster too. A swap is rare, so that having it passed on to every
 * node costs little; and one connection to any node hears all, where sharded channels
 * would need one to each shard, moved along with the slots.
 */
export class Channels {
  readonly #redis: RedisClient
  readonly #given: SubscriberClient | undefined
  readonly #listeners = new Map<string, Set<Listener>>()
  #connection: SubscriberClient | undefined

  /** @param given the user's own connection to listen on: never closed here */
  constructor(redis: RedisClient, given?: SubscriberClient) {
    this.#redis = redis
    this.#given = given
  }

  listen(channel: string, listener: Listener): () => void {
    // A function of its own, so that one listener given twice is two.
    const own: Listener = (message) => listener(message)
    const present = this.#listeners.get(channel)
    if (present === undefined) {
      this.#listeners.set(channel, new Set([own]))
      this.#connect()
      this.#subscribe(channel)
    } else present.add(own)
    return () => this.#leave(channel, own)
  }

  close(): void {
    for (const channel of this.#listeners.keys()) this.#unsubscribe(channel)
    this.#listeners.clear()
    this.#disconnect()
  }

  #leave(channel: string, listener: Listener): void {
    const listeners = this.#listeners.get(channel)
    if (listeners?.delete(listener) !== true || listeners.size > 0) return
    this.#listeners.delete(channel)
    this.#unsubscribe(channel)
    if (this.#listeners.size === 0) this.#disconnect()
  }

  #connect(): void {
    // One whose user's client was closed has given up; with the client it may come back.
    if (this.#connection?.status === 'end' && this.#given === undefined) this.#disconnect()
    if (this.#connection !== undefined) return
    const connection = this.#given ?? subscriberOf(this.#redis)
    this.#connection = connection
    connection.on('message', this.#onMessage)
    connection.on('ready', this.#onReady)
    // An error that nobody listens for would end the process.
    connection.on('error', nothing)
  }

  #disconnect(): void {
    const connection = this.#connection
    if (connection === undefined) return
    this.#connection = undefined
    connection.off('message', this.#onMessage)
    connection.off('ready', this.#onReady)
    if (this.#given !== undefined) connection.off('error', nothing)
    else connection.disconnect()
  }

  /** What is lost with a connection is asked for again on the next. */
  readonly #onReady = (): void => {
    unref(this.#connection)
    if (this.#listeners.size > 0) this.#subscribe(...this.#listeners.keys())
  }

  readonly #onMessage = (channel: string, message: string): void => {
    for (const listener of this.#listeners.get(channel) ?? []) {
      try {
        listener(message)
      } catch {
        // The others want to hear of it.
      }
    }
  }

  #subscribe(...channels: string[]): void {
    if (this.#connection?.status !== 'ready') return
    // Refused by an ACL, or lost with the connection: the next one asks again.
    this.#connection.subscribe(...channels).catch(nothing)
  }

  #unsubscribe(channel: string): void {
    if (this.#connection?.status === 'ready') this.#connection.unsubscribe(channel).catch(nothing)
  }
}

/**
 * A connection like the user's, but for what would queue, give up, or subscribe by
 * itself and reject where nobody listens.
 */
function subscriberOf(redis: RedisClient): SubscriberClient {
  const retryStrategy = (times: number): number | null =>
    redis.status === 'end' ? null : Math.min(LONGEST_RETRY_MS, 50 * 2 ** Math.min(times, 6))
  const options = {
    lazyConnect: false,
    enableOfflineQueue: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy,
    clusterRetryStrategy: retryStrategy,
  }
  const duplicate = redis.duplicate as (...args: unknown[]) => SubscriberClient
  return isCluster(redis) ? duplicate.call(redis, [], options) : duplicate.call(redis, options)
}

function isCluster(redis: RedisClient): boolean {
  return (redis as { readonly isCluster?: unknown }).isCluster === true
}

/** Listening alone keeps no process alive. */
function unref(connection: SubscriberClient | undefined): void {
  const { stream } = (connection ?? {}) as { readonly stream?: { unref?(): void } }
  stream?.unref?.()
}

function nothing(): void {}
