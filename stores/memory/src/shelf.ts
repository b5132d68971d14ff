/** What a shelf asks of its things, to know which of them may go. */
export interface Shelved {
  readonly expiresAt: number
  /** Whether it is kept even when room is needed. */
  readonly isHeld: boolean
}

/** The store is full of what must not go. */
export class StoreFullError extends Error {
  readonly code = 'STORE_FULL'

  constructor(maxKeys: number) {
    super(
      `memoryStore: all ${maxKeys} circuits are open, half-open or isolated, and none of those is evicted; ` +
        'give the store a larger maxKeys',
    )
  }
}

/**
 * At most `maxKeys` things by name. The held and the others are each in the order
 * of their last use: room is found at the front of the others, however many are held.
 */
export class Shelf<Thing extends Shelved> {
  readonly #maxKeys: number
  readonly #held = new Map<string, Thing>()
  readonly #others = new Map<string, Thing>()

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys
  }

  get size(): number {
    return this.#held.size + this.#others.size
  }

  /** The thing of this name, unless it has expired. */
  get(name: string, now: number): Thing | undefined {
    const thing = this.#others.get(name) ?? this.#held.get(name)
    if (thing === undefined || thing.expiresAt > now) return thing
    this.delete(name)
    return undefined
  }

  /** Puts a thing to the back of where it belongs now. To be called after each use. */
  put(name: string, thing: Thing): void {
    this.delete(name)
    const side = thing.isHeld ? this.#held : this.#others
    side.set(name, thing)
  }

  delete(name: string): void {
    if (!this.#others.delete(name)) this.#held.delete(name)
  }

  /** @throws StoreFullError */
  makeRoom(now: number): void {
    if (this.size < this.#maxKeys) return
    const [oldest] = this.#others.keys()
    if (oldest !== undefined) {
      this.#others.delete(oldest)
      return
    }
    // The longest untouched of the held is the likeliest to have expired.
    const [first] = this.#held
    if (first === undefined || first[1].expiresAt > now) throw new StoreFullError(this.#maxKeys)
    this.#held.delete(first[0])
  }
}
