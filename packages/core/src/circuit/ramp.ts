/** What is let in at once after closing, so that the ramp has calls to learn from. */
const FIRST_SHARE = 0.05

/** Lets a growing share of the calls through after a circuit closed, instead of the herd that waited for it. */
export class Ramp {
  #durationMs = 0
  #from: number | undefined

  get isOn(): boolean {
    return this.#from !== undefined
  }

  /** @param durationMs until all are let through */
  begin(now: number, durationMs: number): void {
    this.#from = now
    this.#durationMs = durationMs
  }

  end(): void {
    this.#from = undefined
  }

  leftMs(now: number): number {
    return this.#from === undefined ? 0 : Math.max(0, this.#from + this.#durationMs - now)
  }

  /** @param random from 0 to below 1 */
  admits(now: number, random: number): boolean {
    const left = this.leftMs(now)
    return left === 0 || random < Math.max(FIRST_SHARE, 1 - left / this.#durationMs)
  }
}
