import type { CancelTimer, Clock } from './clock'

/** Something that wants to be called at a moment of its own. */
export interface Beating {
  /** The moment, by the clock. It may move while it is waited for. */
  readonly dueAt: number
  beat(): void
}

/**
 * One timer for all that waits on one clock, set only while something waits and
 * keeping no process alive. A timer a breaker would be ten thousand of them in a
 * process with a breaker a host.
 */
class Pulse {
  readonly #waiting = new Set<Beating>()
  readonly #clock: Clock
  #timer: { readonly at: number; readonly cancel: CancelTimer } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(beating: Beating): void {
    this.#waiting.add(beating)
    this.#arm(beating.dueAt)
  }

  #arm(at: number): void {
    if (this.#timer !== undefined && this.#timer.at <= at) return
    this.#timer?.cancel()
    const cancel = this.#clock.setTimeout(() => this.#fire(), Math.max(0, at - this.#clock.now()), false)
    this.#timer = { at, cancel }
  }

  #fire(): void {
    this.#timer = undefined
    const now = this.#clock.now()
    let next = Number.POSITIVE_INFINITY
    for (const beating of [...this.#waiting]) {
      const { dueAt } = beating
      if (dueAt > now) {
        next = Math.min(next, dueAt)
      } else {
        this.#waiting.delete(beating)
        beating.beat()
      }
    }
    if (next < Number.POSITIVE_INFINITY) this.#arm(next)
  }
}

const pulses = new WeakMap<Clock, Pulse>()

/** Calls `beating` when it is due, once. */
export function awaitBeat(clock: Clock, beating: Beating): void {
  let pulse = pulses.get(clock)
  if (pulse === undefined) {
    pulse = new Pulse(clock)
    pulses.set(clock, pulse)
  }
  pulse.add(beating)
}
