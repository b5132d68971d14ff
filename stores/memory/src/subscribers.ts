import type { CircuitSnapshot, Unsubscribe } from '@tidegate/contract'

type Listener = (snapshot: CircuitSnapshot) => void

/** An object for each, so that one listener given twice is two, and each ends by itself. */
interface Subscription {
  readonly listener: Listener
  isOver: boolean
}

/** Who wants to hear of which circuit. Empties itself. */
export class Subscribers {
  readonly #subscriptions = new Map<string, readonly Subscription[]>()
  readonly #due: { name: string; snapshot: CircuitSnapshot }[] = []

  add(name: string, listener: Listener): Unsubscribe {
    const own: Subscription = { listener, isOver: false }
    this.#subscriptions.set(name, [...(this.#subscriptions.get(name) ?? []), own])
    return () => {
      own.isOver = true
      const left = (this.#subscriptions.get(name) ?? []).filter((other) => other !== own)
      if (left.length > 0) this.#subscriptions.set(name, left)
      else this.#subscriptions.delete(name)
    }
  }

  /** Tells of swaps in the order in which they landed, those that listeners make meanwhile included. */
  tell(name: string, snapshot: CircuitSnapshot): void {
    if (!this.#subscriptions.has(name)) return
    if (this.#due.push({ name, snapshot }) > 1) return
    for (let next = this.#due[0]; next !== undefined; next = this.#due[0]) {
      this.#tellNow(next.name, next.snapshot)
      this.#due.shift()
    }
  }

  clear(): void {
    for (const subscriptions of this.#subscriptions.values()) {
      for (const subscription of subscriptions) subscription.isOver = true
    }
    this.#subscriptions.clear()
  }

  #tellNow(name: string, snapshot: CircuitSnapshot): void {
    for (const subscription of this.#subscriptions.get(name) ?? []) {
      if (subscription.isOver) continue
      try {
        subscription.listener(snapshot)
      } catch {
        // The swap has landed, and the others want to hear of it.
      }
    }
  }
}
