import type { Next } from '../policy'
import type { Scope } from './scope'

/**
 * Functions of users that have not settled, whether or not somebody waits for them: a time limit
 * or a caller that leaves ends the wait, and not the work.
 */
export class Work {
  readonly #outer: Work | undefined
  #running = 0
  #onIdle: (() => void) | undefined

  constructor(outer: Work | undefined) {
    this.#outer = outer
  }

  /** Calls back when nothing runs: at once, or at the end of the last. */
  whenIdle(callback: () => void): void {
    if (this.#running === 0) callback()
    else this.#onIdle = callback
  }

  begin(): void {
    this.#outer?.begin()
    this.#running++
  }

  end(): void {
    this.#outer?.end()
    this.#running--
    if (this.#running > 0) return
    const onIdle = this.#onIdle
    this.#onIdle = undefined
    onIdle?.()
  }
}

/**
 * The function, with whoever holds something for it told when it begins and when it settles. For a
 * part that was given up it does not begin: what it would have been held for is let go of already.
 */
export function counted<T>(fn: Next<T>): Next<T> {
  return (scope: Scope) => {
    const { work } = scope
    if (work === undefined) return fn(scope)
    if (scope.aborted) throw scope.reason
    work.begin()
    const end = (): void => work.end()
    try {
      const settled = Promise.resolve(fn(scope))
      settled.then(end, end)
      return settled
    } catch (error) {
      end()
      throw error
    }
  }
}
