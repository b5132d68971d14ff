import type { CancelTimer, Clock } from '../clock'

/**
 * While deadlines are waited for, the timer is set for no longer than this. So it need
 * not be ended when the last call is over, and set again by the next, and still keeps
 * no process alive for longer than this.
 */
const TICK_MS = 50

/** Something that is to happen at a moment, unless it is taken back before. */
export interface Deadline {
  readonly at: number
  readonly expire: () => void
  /** Where in the heap it stands; below 0 once it does not any more. */
  place: number
}

/**
 * One timer for all deadlines on one clock. A timer a call is the larger part of what
 * a time limit costs, and nearly all of them are taken back unused.
 *
 * A binary heap by their moments: with limits of one length, which is the usual case,
 * each new one is the last and stays where it is put.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #heap: Deadline[] = []
  #timer: { readonly at: number; readonly cancel: CancelTimer } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @param ms from `now`, which is a moment of the clock */
  set(now: number, ms: number, expire: () => void): Deadline {
    const deadline: Deadline = { at: now + ms, expire, place: this.#heap.length }
    this.#heap.push(deadline)
    this.#rise(deadline)
    this.#arm(now, deadline.at)
    return deadline
  }

  /** Takes it back; harmless when it has passed. */
  clear(deadline: Deadline): void {
    const { place } = deadline
    if (place < 0) return
    deadline.place = -1
    const last = this.#heap.pop() as Deadline
    if (last === deadline) return
    this.#put(last, place)
    this.#rise(last)
    this.#sink(last)
  }

  #rise(deadline: Deadline): void {
    const heap = this.#heap
    while (deadline.place > 0) {
      const { place } = deadline
      const above = heap[(place - 1) >> 1] as Deadline
      if (above.at <= deadline.at) return
      this.#put(deadline, above.place)
      this.#put(above, place)
    }
  }

  #sink(deadline: Deadline): void {
    const heap = this.#heap
    for (;;) {
      const { place } = deadline
      const [left, right] = [heap[2 * place + 1], heap[2 * place + 2]]
      if (left === undefined) return
      const below = right !== undefined && right.at < left.at ? right : left
      if (deadline.at <= below.at) return
      this.#put(deadline, below.place)
      this.#put(below, place)
    }
  }

  #put(deadline: Deadline, place: number): void {
    this.#heap[place] = deadline
    deadline.place = place
  }

  #arm(now: number, at: number): void {
    const next = Math.min(at, now + TICK_MS)
    if (this.#timer !== undefined && this.#timer.at <= next) return
    this.#timer?.cancel()
    this.#timer = { at: next, cancel: this.#clock.setTimeout(() => this.#tick(), next - now, true) }
  }

  #tick(): void {
    this.#timer = undefined
    const now = this.#clock.now()
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      this.clear(first)
      first.expire()
    }
    const [next] = this.#heap
    if (next !== undefined) this.#arm(now, next.at)
  }
}

const all = new WeakMap<Clock, Deadlines>()

/** The deadlines on a clock. */
export function deadlinesOf(clock: Clock): Deadlines {
  let deadlines = all.get(clock)
  if (deadlines === undefined) {
    deadlines = new Deadlines(clock)
    all.set(clock, deadlines)
  }
  return deadlines
}
