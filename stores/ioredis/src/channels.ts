import type { Line, LineEvents } from './line'

type Listener = (message: string) => void

/** Who listens to which channel, on a line that is open while anybody does. */
export class Channels {
  readonly #line: Line
  readonly #listeners = new Map<string, Set<Listener>>()

  constructor(lineOf: (events: LineEvents) => Line) {
    this.#line = lineOf({
      up: () => this.#line.subscribe([...this.#listeners.keys()]),
      message: (channel, message) => this.#hear(channel, message),
    })
  }

  /** @param listener a function for each who listens: one that is here already is not there twice */
  listen(channel: string, listener: Listener): () => void {
    const present = this.#listeners.get(channel)
    if (present === undefined) this.#add(channel, listener)
    else present.add(listener)
    return () => this.#leave(channel, listener)
  }

  close(): void {
    if (this.#listeners.size === 0) return
    this.#line.unsubscribe([...this.#listeners.keys()])
    this.#listeners.clear()
    this.#line.close()
  }

  #add(channel: string, listener: Listener): void {
    this.#listeners.set(channel, new Set([listener]))
    if (this.#listeners.size === 1) this.#line.open()
    this.#line.subscribe([channel])
  }

  #leave(channel: string, listener: Listener): void {
    const listeners = this.#listeners.get(channel)
    if (listeners?.delete(listener) !== true || listeners.size > 0) return
    this.#listeners.delete(channel)
    this.#line.unsubscribe([channel])
    if (this.#listeners.size === 0) this.#line.close()
  }

  #hear(channel: string, message: string): void {
    for (const listener of this.#listeners.get(channel) ?? []) {
      try {
        listener(message)
      } catch {
        // Another's message, or a listener that throws: the others want to hear of it.
      }
    }
  }
}
