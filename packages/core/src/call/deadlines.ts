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
  before: Deadline | undefined
  after: Deadline | undefined
  /** Where it waits; undefined once it does not any more. */
  queue: Queue | undefined
}

/** Deadlines of one length, in the order in which they were set, which is the one in which they pass. */
interface Queue {
  first: Deadline | undefined
  last: Deadline | undefined
}

/** Lengths beyond these are not kept apart: each costs a look at every tick. */
const MAX_LENGTHS = 64

/**
 * One timer for all deadlines on one clock. A timer a call is the larger part of what
 * a time limit costs, and nearly all of them are taken back unused.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #queues = new Map<number, Queue>()
  #waiting = 0
  #timer: { readonly at: number; readonly cancel: CancelTimer } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @param ms from `now`, which is a moment of the clock */
  set(now: number, ms: number, expire: () => void): Deadline {
    const queue = this.#queueFor(ms)
    const deadline: Deadline = { at: now + ms, expire, before: queue.last, after: undefined, queue }
    // A clock that was read twice in one moment, or a length that shares its queue: kept in order all the same.
    while (deadline.before !== undefined && deadline.before.at > deadline.at)
      deadline.before = deadline.before.before
    deadline.after = deadline.before === undefined ? queue.first : deadline.before.after
    if (deadline.before === undefined) queue.first = deadline
    else deadline.before.after = deadline
    if (deadline.after === undefined) queue.last = deadline
    else deadline.after.before = deadline
    this.#waiting++
    this.#arm(now, deadline.at)
    return deadline
  }

  /** Takes it back; harmless when it has passed. */
  clear(deadline: Deadline): void {
    const { queue, before, after } = deadline
    if (queue === undefined) return
    deadline.queue = undefined
    if (before === undefined) queue.first = after
    else before.after = after
    if (after === undefined) queue.last = before
    else after.before = before
    this.#waiting--
  }

  #queueFor(ms: number): Queue {
    const length = this.#queues.has(ms) || this.#queues.size < MAX_LENGTHS ? ms : Number.POSITIVE_INFINITY
    let queue = this.#queues.get(length)
    if (queue === undefined) {
      queue = { first: undefined, last: undefined }
      this.#queues.set(length, queue)
    }
    return queue
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
    let next = Number.POSITIVE_INFINITY
    for (const [length, queue] of this.#queues) {
      for (let first = queue.first; first !== undefined && first.at <= now; first = queue.first) {
        this.clear(first)
        first.expire()
      }
      if (queue.first === undefined) this.#queues.delete(length)
      else next = Math.min(next, queue.first.at)
    }
    if (this.#waiting > 0) this.#arm(now, next)
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
