/** Time that never runs back: what the clock is set back by is made up for from then on. */
export class ToldTime {
  #latest = 0
  #lag = 0

  /** Microseconds, of a clock that says this. */
  tell(clockMicros: number): number {
    if (clockMicros + this.#lag < this.#latest) this.#lag = this.#latest - clockMicros
    this.#latest = clockMicros + this.#lag
    return this.#latest
  }

  /** What `tell` would say, without having said it. */
  peek(clockMicros: number): number {
    return Math.max(this.#latest, clockMicros + this.#lag)
  }
}
