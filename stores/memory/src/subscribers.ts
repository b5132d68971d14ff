import type { CircuitSnapshot, Unsubscribe } from '@tidegate/contract'

type Listener = (snapshot: CircuitSnapshot) => void

/** Who wants to hear of which circuit. Empties itself. */
export class Subscribers {
  readonly #listeners = new Map<string, readonly Listener[]>()

  add(name: string, listener: Listener): Unsubscribe {
    // A function of its own for each, so that one given twice is two, and each ends by itself.
    const own: Listener = (snapshot) => listener(snapshot)
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), own])
    return () => {
      const left = (this.#listeners.get(name) ?? []).filter((other) => other !== own)
      if (left.length > 0) this.#listeners.set(name, left)
      else this.#listeners.delete(name)
    }
  }

  tell(name: string, snapshot: CircuitSnapshot): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        listener(snapshot)
      } catch {
        // The swap has landed, and the others want to hear of it.
      }
    }
  }

  clear(): void {
    this.#listeners.clear()
  }
}
