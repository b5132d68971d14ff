import type { SubscriberClient } from './client'
import { ignore, type Line, type LineEvents } from './line'

/** A connection of the user's, who opens and closes it, and is told of its errors. */
export class GivenLine implements Line {
  readonly #connection: SubscriberClient
  readonly #events: LineEvents

  constructor(connection: SubscriberClient, events: LineEvents) {
    this.#connection = connection
    this.#events = events
  }

  open(): void {
    this.#connection.on('ready', this.#events.up)
    this.#connection.on('message', this.#events.message)
  }

  /** One that is lazy connects by it. */
  subscribe(channels: readonly string[]): void {
    if (['ready', 'wait'].includes(this.#connection.status)) ignore(this.#connection.subscribe(...channels))
  }

  unsubscribe(channels: readonly string[]): void {
    if (this.#connection.status === 'ready') ignore(this.#connection.unsubscribe(...channels))
  }

  close(): void {
    this.#connection.off('ready', this.#events.up)
    this.#connection.off('message', this.#events.message)
  }
}
