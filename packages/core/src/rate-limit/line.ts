import type { CancelTimer, Clock } from '../clock'
import { Queue, type Waiter } from '../queue'

/** A call that waits for its share of a quota. */
export interface Waiting extends Waiter {
  readonly cost: number
  /** It has its share. */
  readonly start: () => void
}

/** What the first in line was told. */
export interface Turn {
  readonly allowed: boolean
  readonly retryAfterMs: number
}

/** A store that was away is not asked at once again. */
const LEAST_WAIT_MS = 1

/**
 * Those who wait for one key, in the order in which they came. Only the first one asks, so that
 * a line of a thousand costs a store no more than a line of one, and nobody is overtaken.
 */
export class Line {
  readonly #queue = new Queue<Waiting>()
  readonly #clock: Clock
  readonly #ask: (cost: number) => Turn | PromiseLike<Turn>
  readonly #onEmpty: () => void
  #cancel: CancelTimer | undefined
  #isAsking = false
  /** When the first one is to ask next, by the clock. */
  #askAt = 0

  /** @param ask never throws, never rejects */
  constructor(clock: Clock, ask: (cost: number) => Turn | PromiseLike<Turn>, onEmpty: () => void) {
    this.#clock = clock
    this.#ask = ask
    this.#onEmpty = onEmpty
  }

  get size(): number {
    return this.#queue.size
  }

  get oldestSince(): number | undefined {
    return this.#queue.oldestSince
  }

  /** How long until the first one asks, in ms. */
  get nextMs(): number {
    return Math.max(LEAST_WAIT_MS, Math.ceil(this.#askAt - this.#clock.now()))
  }

  /** @param afterMs how long until it is worth asking, as the store said; of no interest behind others */
  add(waiting: Waiting, afterMs: number): void {
    this.#queue.add(waiting)
    if (this.#queue.size === 1) this.#askIn(afterMs)
  }

  /** @returns whether it was still waiting */
  remove(waiting: Waiting): boolean {
    const wasFirst = this.#queue.next(false) === waiting
    if (!this.#queue.remove(waiting)) return false
    if (this.#queue.size === 0) this.#end()
    // Another may ask for less.
    else if (wasFirst) this.#askIn(0)
    return true
  }

  #askIn(ms: number): void {
    this.#cancel?.()
    const wait = Math.max(LEAST_WAIT_MS, ms)
    this.#askAt = this.#clock.now() + wait
    this.#cancel = this.#clock.setTimeout(() => this.#turn(), wait, true)
  }

  async #turn(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    for (let first = this.#queue.next(false); first !== undefined; first = this.#queue.next(false)) {
      const { allowed, retryAfterMs } = await this.#ask(first.cost)
      if (allowed) {
        // Who left while it was asked for leaves what it got to the quota's next window: it errs low.
        if (this.#queue.remove(first)) first.start()
        continue
      }
      if (this.#queue.size > 0) this.#askIn(retryAfterMs)
      break
    }
    this.#isAsking = false
    if (this.#queue.size === 0) this.#end()
  }

  #end(): void {
    this.#cancel?.()
    this.#cancel = undefined
    if (!this.#isAsking) this.#onEmpty()
  }
}
