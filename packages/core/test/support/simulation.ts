import type { CancelTimer, Clock } from '@tidegate/core'
import { oneTurn } from './virtual-clock'

/** Numbers that a seed determines (mulberry32): a failure is seen again by its seed. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to below 1. */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.next() * from.length)] as T
  }
}

/** Timers of one moment beyond which something sets them in a circle. */
const MOST_AT_ONCE = 10_000

interface Timer {
  readonly at: number
  readonly order: number
  readonly callback: () => void
}

/** The one time of a simulated world; a thing at a time, and all that follows from it by itself before the next. */
export class World {
  now = 0
  #order = 0
  #atThisMoment = 0
  readonly #timers = new Set<Timer>()

  at(delay: number, callback: () => void): CancelTimer {
    const timer = { at: this.now + Math.max(0, delay), order: this.#order++, callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  async advance(ms: number): Promise<void> {
    const end = this.now + ms
    await oneTurn()
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#timers.delete(timer)
      this.#atThisMoment = timer.at > this.now ? 0 : this.#atThisMoment + 1
      if (this.#atThisMoment > MOST_AT_ONCE) throw new Error('timers without end, and the time stands still')
      this.now = Math.max(this.now, timer.at)
      timer.callback()
      await oneTurn()
    }
    this.now = end
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.at > end) continue
      const isSooner = timer.at < (next?.at ?? Number.POSITIVE_INFINITY)
      if (next === undefined || isSooner || (timer.at === next.at && timer.order < next.order)) next = timer
    }
    return next
  }
}

/** A process of the world, with a clock of its own, that may be frozen: then nothing reaches it until it goes on. */
export class Process implements Clock {
  readonly #world: World
  readonly #origin: number
  #frozenUntil = 0
  #frozenFor = 0
  /** Timers that its code has set and that have neither fired nor been cancelled. */
  timers = 0

  constructor(world: World, origin: number) {
    this.#world = world
    this.#origin = origin
  }

  now(): number {
    return this.#origin + this.#world.now
  }

  get isFrozen(): boolean {
    return this.#world.now < this.#frozenUntil
  }

  /** Its time without that in which it was frozen. */
  get awake(): number {
    return this.#world.now - this.#frozenFor + Math.max(0, this.#frozenUntil - this.#world.now)
  }

  freeze(ms: number): void {
    if (this.isFrozen) return
    this.#frozenUntil = this.#world.now + ms
    this.#frozenFor += ms
  }

  setTimeout(callback: () => void, ms: number): CancelTimer {
    this.timers++
    let isOver = false
    const end = () => {
      if (!isOver) this.timers--
      isOver = true
    }
    const cancel = this.deliver(ms, () => {
      end()
      callback()
    })
    return () => {
      end()
      cancel()
    }
  }

  /** Something from the outside reaches it. */
  deliver(delay: number, callback: () => void): CancelTimer {
    let cancel: CancelTimer
    const arrive = () => {
      if (this.isFrozen) cancel = this.#world.at(this.#frozenUntil - this.#world.now, arrive)
      else callback()
    }
    cancel = this.#world.at(delay, arrive)
    return () => cancel()
  }
}
