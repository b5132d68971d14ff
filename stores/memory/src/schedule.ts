/** What can be in a {@link Schedule}; both fields are the schedule's own. */
export interface Scheduled {
  due: number
  /** Where in the schedule it stands; below 0 where it does not. */
  place: number
}

const NOWHERE = -1

/**
 * Things by when they are due, the first at hand: a heap, for no timer is to be
 * set for any of them. A thing may be put anew, later or earlier, at any time.
 */
export class Schedule<Thing extends Scheduled> {
  readonly #heap: Thing[] = []

  get first(): Thing | undefined {
    return this.#heap[0]
  }

  put(thing: Thing, due: number): void {
    thing.due = due
    if (thing.place === NOWHERE) {
      thing.place = this.#heap.length
      this.#heap.push(thing)
    }
    this.#settle(thing)
  }

  /** Takes it out; does nothing where it is not in the schedule. */
  delete(thing: Thing): void {
    const { place } = thing
    if (place === NOWHERE) return
    thing.place = NOWHERE
    const last = this.#heap.pop() as Thing
    if (last === thing) return
    this.#set(place, last)
    this.#settle(last)
  }

  clear(): void {
    this.#heap.length = 0
  }

  /** Brings one that may stand in the wrong place to the right one. */
  #settle(thing: Thing): void {
    this.#rise(thing)
    this.#sink(thing)
  }

  #rise(thing: Thing): void {
    let { place } = thing
    while (place > 0) {
      const above = (place - 1) >> 1
      const other = this.#heap[above] as Thing
      if (other.due <= thing.due) break
      this.#set(place, other)
      place = above
    }
    this.#set(place, thing)
  }

  #sink(thing: Thing): void {
    let { place } = thing
    for (let below = 2 * place + 1; below < this.#heap.length; below = 2 * place + 1) {
      const [left, right] = [this.#heap[below] as Thing, this.#heap[below + 1]]
      const other = right !== undefined && right.due < left.due ? right : left
      if (thing.due <= other.due) break
      const next = other.place
      this.#set(place, other)
      place = next
    }
    this.#set(place, thing)
  }

  #set(place: number, thing: Thing): void {
    this.#heap[place] = thing
    thing.place = place
  }
}
