/** What came of a flight, to those who were on it. */
export type Landing<T> = { readonly value: T } | { readonly error: unknown } | 'aborted'

/** Somebody who waits for what another one's call comes to. */
type Passenger<T> = (landing: Landing<T>) => void

/**
 * Calls of one key at the same time as one: the first goes, the others wait for what it comes
 * to. Where its caller left before it came to anything, the next of them goes.
 */
export class Flights {
  /** Those who wait, by the key of the flight they are on. */
  readonly #waiting = new Map<string, Set<Passenger<never>>>()

  /** Calls on their way. */
  get size(): number {
    return this.#waiting.size
  }

  /** @returns whether it is the first, who goes, and owes the others a landing */
  begin(key: string): boolean {
    if (this.#waiting.has(key)) return false
    this.#waiting.set(key, new Set())
    return true
  }

  /** @returns leaves it */
  join<T>(key: string, passenger: Passenger<T>): () => void {
    const waiting = this.#waiting.get(key) as Set<Passenger<T>> | undefined
    waiting?.add(passenger)
    return () => waiting?.delete(passenger)
  }

  land<T>(key: string, landing: Landing<T>): void {
    const waiting = this.#waiting.get(key) as Set<Passenger<T>> | undefined
    this.#waiting.delete(key)
    for (const passenger of waiting ?? []) passenger(landing)
  }
}
