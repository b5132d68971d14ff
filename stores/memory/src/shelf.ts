import { type Linked, Recency } from './recency'

/** What a shelf asks of its things, to know which of them may go. */
export interface Shelved<Thing> extends Linked<Thing> {
  readonly name: string
  readonly expiresAt: number
  /** Whether it is kept even when room is needed. */
  readonly isHeld: boolean
}

/** The store is full of what must not go. */
class StoreFullError extends Error {
  override readonly name = 'StoreFullError'
  readonly code = 'STORE_FULL'

  constructor(maxKeys: number) {
    super(
      `memoryStore: all ${maxKeys} circuits are open, half-open or isolated, and none of those is evicted; ` +
        'give the store a larger maxKeys, or forget circuits that nobody needs',
    )
  }
}

/**
 * A full shelf looks for what has expired no more often than this: it has to look
 * at everything. The shortest idle lease is two minutes, so that little is missed.
 */
const LOOK_EVERY_MS = 1_000

/**
 * At most `maxKeys` things by name. Those that may go are also in the order of
 * their last use, so that room is found at once, however many may not.
 */
export class Shelf<Thing extends Shelved<Thing>> {
  readonly #maxKeys: number
  readonly #things = new Map<string, Thing>()
  readonly #evictable = new Recency<Thing>()
  #lookAt = 0

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys
  }

  /** The thing of this name, unless it has expired. */
  get(name: string, now: number): Thing | undefined {
    const thing = this.#things.get(name)
    if (thing === undefined || now < thing.expiresAt) return thing
    this.#remove(thing)
    return undefined
  }

  /**
   * Adds a thing, of a name that is not there.
   *
   * @throws StoreFullError
   */
  add(thing: Thing, now: number): void {
    if (this.#things.size >= this.#maxKeys) this.#makeRoom(now)
    this.#things.set(thing.name, thing)
    this.use(thing)
  }

  /** To be called whenever a thing was used, and whenever it begins or ceases to be held. */
  use(thing: Thing): void {
    if (thing.isHeld) this.#evictable.delete(thing)
    else this.#evictable.use(thing)
  }

  delete(name: string): void {
    const thing = this.#things.get(name)
    if (thing) this.#remove(thing)
  }

  #makeRoom(now: number): void {
    if (now >= this.#lookAt) {
      this.#lookAt = now + LOOK_EVERY_MS
      for (const thing of this.#things.values()) if (now >= thing.expiresAt) this.#remove(thing)
      if (this.#things.size < this.#maxKeys) return
    }
    const { oldest } = this.#evictable
    if (oldest === undefined) throw new StoreFullError(this.#maxKeys)
    this.#remove(oldest)
  }

  #remove(thing: Thing): void {
    this.#things.delete(thing.name)
    this.#evictable.delete(thing)
  }
}
