/** What can be in a {@link Recency}; the links are the list's own. */
export interface Linked<Thing> {
  older: Thing | undefined
  newer: Thing | undefined
}

/**
 * Things in the order of their last use, linked through themselves. A Map that
 * gets its keys anew with each use keeps that order too, but V8 leaves a hole
 * where a key was until it rehashes: a key in constant use then walks over
 * thousands of its own.
 */
export class Recency<Thing extends Linked<Thing>> {
  #oldest: Thing | undefined
  #newest: Thing | undefined

  get oldest(): Thing | undefined {
    return this.#oldest
  }

  /** Puts it last, whether it was in the list or not. */
  use(thing: Thing): void {
    if (thing === this.#newest) return
    this.delete(thing)
    thing.older = this.#newest
    if (this.#newest) this.#newest.newer = thing
    else this.#oldest = thing
    this.#newest = thing
  }

  /** Puts it first, whether it was in the list or not: the next to go. */
  retire(thing: Thing): void {
    if (thing === this.#oldest) return
    this.delete(thing)
    thing.newer = this.#oldest
    if (this.#oldest) this.#oldest.older = thing
    else this.#newest = thing
    this.#oldest = thing
  }

  /** Takes it out; does nothing where it is not in the list. */
  delete(thing: Thing): void {
    const { older, newer } = thing
    if (older) older.newer = newer
    else if (thing === this.#oldest) this.#oldest = newer
    if (newer) newer.older = older
    else if (thing === this.#newest) this.#newest = older
    thing.older = undefined
    thing.newer = undefined
  }
}
