import type { CircuitSnapshot, CircuitState } from '@tidegate/core'
import { Redis } from 'ioredis'
import { channelOf, readMessage } from '../../packages/redis-lua/src/index'
import type { RedisServer } from '../support/redis/index'
import { until } from '../support/until'
import type { Bell } from './bell'

/** One period of the circuit, as the swap that began it was told. */
export type Period = CircuitSnapshot

/** What the journal is of. */
export interface Subject {
  readonly prefix: string
  readonly name: string
}

/**
 * An independent witness of the circuit: every swap that landed, in the order in
 * which it did. It hears what Redis tells in the very step of the swap, on a
 * connection of its own, and looks at the keys themselves for what was before.
 */
export class Journal {
  readonly periods: Period[] = []
  readonly #server: RedisServer
  readonly #listener: Redis
  readonly #subject: Subject
  #heard = 0

  private constructor(server: RedisServer, subject: Subject, bell: Bell) {
    this.#server = server
    this.#subject = subject
    this.#listener = new Redis({ host: server.host, port: server.port, retryStrategy: () => null })
    this.#listener.on('message', (_channel: string, message: string) => {
      this.#heard++
      this.periods.push(readMessage(message))
      bell.ring()
    })
  }

  static async open(server: RedisServer, subject: Subject, bell: Bell): Promise<Journal> {
    const journal = new Journal(server, subject, bell)
    await journal.#listener.subscribe(channelOf(subject.prefix, subject.name))
    return journal
  }

  /** The present period; undefined before the first. */
  get last(): Period | undefined {
    return this.periods.at(-1)
  }

  /** The period that the swap out of `fence` began; undefined while it lasts. */
  after(fence: string): Period | undefined {
    const at = this.periods.findIndex((period) => period.fence === fence)
    return at < 0 ? undefined : this.periods[at + 1]
  }

  /** Writes down the period that no swap began, as soon as it has begun. */
  async begin(): Promise<void> {
    const { state, fence } = await until('the circuit', () => this.#present())
    if (this.#heard > 0) return
    this.periods.push({ state, fence, trips: 0, probeSuccesses: 0, fleet: 0, now: Date.now() })
  }

  /**
   * What may be missing from the journal: the circuit as it stands in Redis is
   * another one, or Redis told of more swaps than were heard.
   */
  async gaps(): Promise<string[]> {
    const present = await this.#present()
    const stats = String(await this.#server.command('INFO', 'commandstats'))
    const told = Number(/cmdstat_publish:calls=(\d+)/.exec(stats)?.[1] ?? 0)
    return [
      ...(present?.fence === this.last?.fence ? [] : [`the journal does not end with ${present?.fence}`]),
      ...(told === this.#heard ? [] : [`heard of ${this.#heard} swaps of ${told}`]),
    ]
  }

  close(): void {
    this.#listener.disconnect()
  }

  /** The circuit as it stands in Redis. */
  async #present(): Promise<Pick<Period, 'state' | 'fence'> | undefined> {
    const { prefix, name } = this.#subject
    const key = `${prefix}:{${name}}:circuit`
    const fields = await this.#server.command('HMGET', key, 'state', 'digits', 'nonce')
    const [state, digits, nonce] = fields as (string | null)[]
    if (typeof digits !== 'string') return undefined
    return { state: state as CircuitState, fence: `${digits.padStart(16, '0')}.${nonce}` }
  }
}

/** Who made the swap that began a period: breakers put their name and a number behind the dot. */
export function authorOf(fence: string): string {
  return fence.slice(fence.indexOf('.') + 1, fence.lastIndexOf('-'))
}

/** Whether a fence is of a period that the whole fleet has, and not one instance while it is without the store. */
export function isShared(fence: string): boolean {
  return !fence.startsWith('local:')
}
