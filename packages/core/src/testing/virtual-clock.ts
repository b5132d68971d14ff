import type { Clock } from '../clock'

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** A clock that stands still until it is turned. */
export class VirtualClock implements Clock {
  #now: number
  readonly #timers = new Set<Timer>()

  constructor(now = 1_800_000_000_000) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  setTimeout(callback: () => void, ms: number): () => void {
    const timer = { at: this.#now + Math.max(0, ms), callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  get timers(): number {
    return this.#timers.size
  }

  /** Moves on without a timer firing, as for a process that was frozen. */
  freeze(ms: number): void {
    this.#now += ms
  }

  /** Moves on, firing each timer at its moment, what follows from it included. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await settled()
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#timers.delete(timer)
      this.#now = Math.max(this.#now, timer.at)
      timer.callback()
      await settled()
    }
    this.#now = Math.max(this.#now, end)
    await settled()
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer
    }
    return next
  }
}

/** When all that could happen by itself has: answers of a store included, each of which takes a turn of its own. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await oneTurn()
}

export function oneTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
