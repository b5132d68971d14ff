/** A call that waits: for a slot, for a quota. */
export interface Waiter {
  readonly priority: number
  readonly since: number
  /** Where it stands; -1 once it has left. */
  place: number
}

/** Who is next: FIFO while waits are short, LIFO under overload, and by priority before either. */
export type Order = 'fifo' | 'lifo-under-overload'

/**
 * Those who wait, in the order in which they came. Bounded by its owner; leaving is as
 * cheap as coming, for under overload most leave.
 */
export class Queue<W extends Waiter = Waiter> {
  /** Holes are where somebody left; they are closed when they are many. */
  #waiters: (W | undefined)[] = []
  #first = 0
  #size = 0
  /** Whether any two may differ. */
  #hasPriorities = false

  get size(): number {
    return this.#size
  }

  /** When the longest waiting one came; undefined where there is none. */
  get oldestSince(): number | undefined {
    for (let at = this.#first; at < this.#waiters.length; at++) {
      const waiter = this.#waiters[at]
      if (waiter === undefined) continue
      this.#first = at
      return waiter.since
    }
    return undefined
  }

  add(waiter: W): void {
    this.#hasPriorities ||= waiter.priority !== 0
    waiter.place = this.#waiters.length
    this.#waiters.push(waiter)
    this.#size++
  }

  /** @returns whether it was still waiting */
  remove(waiter: W): boolean {
    if (waiter.place < 0) return false
    this.#waiters[waiter.place] = undefined
    waiter.place = -1
    this.#size--
    this.#close()
    return true
  }

  /** Takes the one who is next out. */
  take(isLifo: boolean): W | undefined {
    const next = this.next(isLifo)
    if (next !== undefined) this.remove(next)
    return next
  }

  /** The one who is next. @param isLifo the latest of the highest priority, and not the earliest */
  next(isLifo: boolean): W | undefined {
    let next: W | undefined
    // From the end where the latest goes first, so that where all are equal the search ends at once.
    const waiters = this.#waiters
    const step = isLifo ? -1 : 1
    for (
      let at = isLifo ? waiters.length - 1 : this.#first;
      at >= this.#first && at < waiters.length;
      at += step
    ) {
      const waiter = waiters[at]
      if (waiter === undefined) continue
      if (!this.#hasPriorities) {
        next = waiter
        break
      }
      const isBefore = next === undefined || waiter.priority > next.priority
      if (isBefore) next = waiter
    }
    return next
  }

  #close(): void {
    if (this.#size === 0) {
      this.#waiters = []
      this.#first = 0
      this.#hasPriorities = false
    } else if (this.#waiters.length > 2 * this.#size + 16) {
      this.#waiters = this.#waiters.filter((waiter) => waiter !== undefined)
      this.#first = 0
      for (const [place, waiter] of this.#waiters.entries()) (waiter as W).place = place
    }
  }
}
