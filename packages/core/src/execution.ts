/** What a protected function is given. */
export interface CallContext {
  /**
   * Aborts when the caller goes away, when its deadline passes, and when a probe
   * has had its time. Made when it is first read: a call that does not look at it
   * does not pay for it.
   */
  readonly signal: AbortSignal
  /** 1 for the first attempt. */
  readonly attempt: number
  /** The period of the circuit in which the call was let through. */
  readonly fence: string
  /** What the caller handed to `execute`. */
  readonly metadata: unknown
}

/** A call that nobody will tell to stop: all that a healthy one costs beside its promise. */
export class HealthyCall implements CallContext {
  readonly fence: string
  readonly metadata: unknown
  #signal: AbortSignal | undefined

  constructor(fence: string, metadata: unknown) {
    this.fence = fence
    this.metadata = metadata
  }

  get attempt(): number {
    return 1
  }

  get signal(): AbortSignal {
    this.#signal ??= new AbortController().signal
    return this.#signal
  }
}

/** A call on its way that has a limit, and the one place where it is told to stop. */
export class Execution implements CallContext {
  fence = ''
  readonly attempt: number = 1
  readonly metadata: unknown
  aborted = false
  reason: unknown = undefined
  /** Called once, at the moment of the abort. */
  #onAbort: ((reason: unknown) => void) | undefined
  #controller: AbortController | undefined

  constructor(metadata: unknown) {
    this.metadata = metadata
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.aborted) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#onAbort?.(reason)
    this.#controller?.abort(reason)
  }

  /**
   * What `work` comes to, or the reason of an abort, whichever is first. What
   * `work` comes to after an abort is told to `late` and reaches nobody else, so
   * that a rejection then is not an unhandled one.
   */
  race<T>(work: () => T | PromiseLike<T>, late?: (error?: { readonly error: unknown }) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.aborted) {
        reject(this.reason)
        return
      }
      this.#onAbort = reject
      const run = async (): Promise<T> => await work()
      run().then(
        (value) => (this.aborted ? late?.() : resolve(value)),
        (error: unknown) => (this.aborted ? late?.({ error }) : reject(error)),
      )
    })
  }
}
