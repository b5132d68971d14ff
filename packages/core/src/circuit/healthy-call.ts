import type { CallContext } from '../call/context'

/** A call that nobody will tell to stop: all that a healthy one costs beside its promise. */
export class HealthyCall implements CallContext {
  readonly fence: string
  #signal: AbortSignal | undefined
  #correlationId: string | undefined

  constructor(fence: string) {
    this.fence = fence
  }

  get attempt(): number {
    return 1
  }

  get metadata(): undefined {
    return undefined
  }

  get remainingMs(): number {
    return Number.POSITIVE_INFINITY
  }

  get correlationId(): string {
    this.#correlationId ??= crypto.randomUUID()
    return this.#correlationId
  }

  get signal(): AbortSignal {
    this.#signal ??= new AbortController().signal
    return this.#signal
  }
}
