export type Listener<Event> = (event: Event) => void

/** Stops a listener from being called. */
export type Unlisten = () => void

/**
 * Tells listeners, in the order in which they came. A listener that throws, or
 * whose promise rejects, is its author's affair: it reaches neither the call that
 * caused the event nor the other listeners, and is said once on the console.
 */
export class Emitter<Events extends object> {
  // Made for the first listener: many a breaker never has one.
  #listeners: Map<keyof Events, readonly Listener<never>[]> | undefined
  #complained = false

  on<Name extends keyof Events>(event: Name, listener: Listener<Events[Name]>): Unlisten {
    // A fresh function for each registration, so that each is ended by its own answer and no other.
    const own: Listener<Events[Name]> = (value) => listener(value)
    const listeners: Map<keyof Events, readonly Listener<never>[]> = this.#listeners ?? new Map()
    this.#listeners = listeners
    listeners.set(event, [...(listeners.get(event) ?? []), own])
    return () => {
      const left = listeners.get(event)?.filter((other) => other !== own) ?? []
      if (left.length > 0) listeners.set(event, left)
      else listeners.delete(event)
    }
  }

  emit<Name extends keyof Events>(event: Name, value: Events[Name]): void {
    const listeners = this.#listeners?.get(event) as readonly Listener<Events[Name]>[] | undefined
    if (listeners === undefined) return
    for (const listener of listeners) {
      try {
        const result: unknown = listener(value)
        if (result instanceof Promise)
          result.catch((error: unknown) => this.complain(`a listener of "${String(event)}"`, error))
      } catch (error) {
        this.complain(`a listener of "${String(event)}"`, error)
      }
    }
  }

  /** Says on the console, once, that something of the user's failed where it cannot be thrown. */
  complain(what: string, error: unknown): void {
    if (this.#complained) return
    this.#complained = true
    console.error(`tidegate: ${what} failed:`, error)
  }
}
