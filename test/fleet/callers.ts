import { setTimeout as sleep } from 'node:timers/promises'
import type { Counts } from './reports'

/** One call; the signal aborts when whoever waits for it goes away. */
type Call = (signal: AbortSignal) => Promise<void>

/** Who gives up on purpose. */
const LEFT = new Error('the caller left')

/** Callers, each of which makes a call, thinks, and makes another. */
export class Callers {
  readonly counts: Counts = { successes: 0, failures: 0, timeouts: 0, left: 0, rejections: {} }
  readonly #call: Call
  readonly #thinkMs: () => number
  readonly #onUnexpected: (error: unknown) => void
  #leaving = new AbortController()
  #round: AbortController | undefined

  constructor(call: Call, thinkMs: () => number, onUnexpected: (error: unknown) => void) {
    this.#call = call
    this.#thinkMs = thinkMs
    this.#onUnexpected = onUnexpected
  }

  go(callers: number): void {
    if (this.#round !== undefined) return
    this.#round = new AbortController()
    for (let caller = 0; caller < callers; caller++) void this.#live(this.#round.signal)
  }

  /** No more calls; those on their way come to whatever they come to. */
  rest(): void {
    this.#round?.abort()
    this.#round = undefined
  }

  /** Whoever waits goes away. */
  leave(): void {
    this.#leaving.abort(LEFT)
    this.#leaving = new AbortController()
  }

  async #live(over: AbortSignal): Promise<void> {
    while (true) {
      // First of all a pause: callers who start together would call together for good.
      await sleep(this.#thinkMs())
      if (over.aborted) return
      await this.#callOnce()
    }
  }

  async #callOnce(): Promise<void> {
    try {
      await this.#call(this.#leaving.signal)
      this.counts.successes++
    } catch (error) {
      this.#count(error)
    }
  }

  #count(error: unknown): void {
    const { code } = error as { readonly code?: unknown }
    if (error === LEFT) this.counts.left++
    else if (code === 'DEPENDENCY_FAILED') this.counts.failures++
    else if (code === 'TIMEOUT') this.counts.timeouts++
    else if (code === 'CIRCUIT_OPEN') this.counts.rejections[code] = (this.counts.rejections[code] ?? 0) + 1
    else this.#onUnexpected(error)
  }
}
