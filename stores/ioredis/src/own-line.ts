import type { RedisClient, RedisNode, SubscriberClient } from './client'
import { ignore, type Line, type LineEvents } from './line'

const SHORTEST_RETRY_MS = 50
const LONGEST_RETRY_MS = 2_000

/** What differs from the user's client: it connects at once, and is tried again from here. */
const OPTIONS = { lazyConnect: false, retryStrategy: null, sentinelRetryStrategy: null }

/**
 * A connection of our own, like the user's client. It keeps no process alive, be it
 * up or tried again; ioredis' own retries would, and so would a second Cluster.
 *
 * In a Cluster it is one to any node, for plain channels are heard on all of them. A
 * swap is rare enough to be passed on to every node; sharded channels would need a
 * connection to each shard, moved along with the slots.
 */
export class OwnLine implements Line {
  readonly #redis: RedisClient
  readonly #events: LineEvents
  #connection: SubscriberClient | undefined
  #retry: NodeJS.Timeout | undefined
  #tries = 0

  constructor(redis: RedisClient, events: LineEvents) {
    this.#redis = redis
    this.#events = events
  }

  open(): void {
    const node = nodeOf(this.#redis)
    if (node === undefined) this.#openLater()
    else this.#open(node.duplicate(OPTIONS as never))
  }

  subscribe(channels: readonly string[]): void {
    if (this.#connection?.status === 'ready') ignore(this.#connection.subscribe(...channels))
  }

  unsubscribe(channels: readonly string[]): void {
    if (this.#connection?.status === 'ready') ignore(this.#connection.unsubscribe(...channels))
  }

  close(): void {
    clearTimeout(this.#retry)
    this.#tries = 0
    const connection = this.#connection
    this.#connection = undefined
    connection?.disconnect()
  }

  #open(connection: SubscriberClient): void {
    this.#connection = connection
    // One that was given up may still have something to say.
    const isOurs = (): boolean => this.#connection === connection
    connection.on('connect', () => unref(connection))
    connection.on('ready', () => isOurs() && this.#up())
    connection.on('message', (channel, message) => isOurs() && this.#events.message(channel, message))
    connection.on('end', () => isOurs() && this.#openLater())
    // The user hears of what is wrong from the client; here it would be printed.
    connection.on('error', () => {})
  }

  #up(): void {
    this.#tries = 0
    this.#events.up()
  }

  #openLater(): void {
    this.#connection = undefined
    const delay = Math.min(LONGEST_RETRY_MS, SHORTEST_RETRY_MS * 2 ** this.#tries++)
    // A fleet whose server was restarted does not come back all at once.
    this.#retry = setTimeout(() => this.open(), delay * (0.5 + Math.random() / 2)).unref()
  }
}

/** Whose likeness to connect; none while the client is closed, or a Cluster knows no nodes yet. */
function nodeOf(redis: RedisClient): RedisNode | undefined {
  if (redis.status === 'end') return undefined
  if (redis.nodes === undefined) return redis as RedisNode
  const nodes = redis.nodes().filter(({ status }) => status !== 'end')
  return nodes[Math.floor(Math.random() * nodes.length)]
}

function unref(connection: SubscriberClient): void {
  const { stream } = connection as { readonly stream?: { unref?(): void } }
  stream?.unref?.()
}
