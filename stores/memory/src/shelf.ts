import { type Linked, Recency } from './recency'
import { Schedule, type Scheduled } from './schedule'
import { StoreFullError } from './store-full-error'

/** What a shelf asks of its things, to know which of them may go. The fields are the shelf's own. */
export abstract class Shelved<Thing extends Linked<Thing>> implements Linked<Thing>, Scheduled {
  older: Thing | undefined = undefined
  newer: Thing | undefined = undefined
  /** Those among which it waits for its turn to go; undefined while it is held. */
  order: Recency<Thing> | undefined = undefined
  due: number = Number.POSITIVE_INFINITY
  place = -1

  abstract readonly name: string
  abstract readonly expiresAt: number

  /** Whether it is kept even when room is needed. */
  get isHeld(): boolean {
    return false
  }

  /** Until then it goes only where there is nothing else that could. */
  get dearUntil(): number {
    return 0
  }
}

/**
 * At most `maxKeys` things by name. When it is full, what has expired goes, then
 * the least recently used of what is not dear, then the least recently used.
 *
 * Each thing is looked at when it may have expired, or may have ceased to be dear,
 * and not before: so that room is found at once, however many may not go.
 */
export class Shelf<Thing extends Shelved<Thing>> {
  readonly #maxKeys: number
  readonly #held: string
  readonly #remedy: string
  readonly #things = new Map<string, Thing>()
  readonly #reviews = new Schedule<Thing>()
  #spare = new Recency<Thing>()
  #dear = new Recency<Thing>()

  /** Where things can be held, `held` says of what and why, and `remedy` what helps: see {@link StoreFullError}. */
  constructor(maxKeys: number, held = 'are held', remedy = 'hold less') {
    this.#maxKeys = maxKeys
    this.#held = held
    this.#remedy = remedy
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
    this.#reviews.put(thing, reviewAt(thing, now))
    this.use(thing, now)
  }

  /** To be called whenever a thing was used, and whenever it begins or ceases to be held or dear. */
  use(thing: Thing, now: number): void {
    const order = this.#orderOf(thing, now)
    if (order !== thing.order) this.#move(thing, order)
    order?.use(thing)
    // One that is due later is left where it is until then: most are used many times before.
    const at = reviewAt(thing, now)
    if (at < thing.due) this.#reviews.put(thing, at)
  }

  delete(name: string): void {
    const thing = this.#things.get(name)
    if (thing) this.#remove(thing)
  }

  clear(): void {
    this.#things.clear()
    this.#reviews.clear()
    this.#spare = new Recency()
    this.#dear = new Recency()
  }

  #makeRoom(now: number): void {
    this.#review(now)
    if (this.#things.size < this.#maxKeys) return
    const oldest = this.#spare.oldest ?? this.#dear.oldest
    if (oldest === undefined) throw new StoreFullError(this.#maxKeys, this.#held, this.#remedy)
    this.#remove(oldest)
  }

  #review(now: number): void {
    for (let thing = this.#reviews.first; thing && thing.due <= now; thing = this.#reviews.first) {
      if (now >= thing.expiresAt) {
        this.#remove(thing)
        continue
      }
      if (thing.order !== this.#orderOf(thing, now)) {
        this.#move(thing, this.#spare)
        // It was last used before it ceased to be dear.
        this.#spare.retire(thing)
      }
      this.#reviews.put(thing, reviewAt(thing, now))
    }
  }

  #orderOf(thing: Thing, now: number): Recency<Thing> | undefined {
    if (thing.isHeld) return undefined
    return now < thing.dearUntil ? this.#dear : this.#spare
  }

  #move(thing: Thing, order: Recency<Thing> | undefined): void {
    thing.order?.delete(thing)
    thing.order = order
  }

  #remove(thing: Thing): void {
    this.#things.delete(thing.name)
    this.#reviews.delete(thing)
    this.#move(thing, undefined)
  }
}

type Reviewed = Pick<Shelved<never>, 'expiresAt' | 'dearUntil'>

/** When it may have expired, or may have ceased to be dear. */
function reviewAt({ expiresAt, dearUntil }: Reviewed, now: number): number {
  return now < dearUntil ? Math.min(dearUntil, expiresAt) : expiresAt
}
