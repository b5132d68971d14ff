import type { MaybePromise, Store } from '@tidegate/contract'
import { after } from '../maybe-promise'
import { Guard, type GuardSettings } from './guard'

/** Who is told how it is with a store. */
export interface StoreWatch {
  onStoreDown(error: unknown): void
  onStoreUp(): void
}

/**
 * A store to a policy that keeps nothing of it: asked when there is something to ask, and left alone
 * while it is away. The first question after the backoff ran out finds out whether it is back.
 */
export class GuardedStore {
  readonly #guard: Guard
  readonly #settings: GuardSettings
  readonly #watch: StoreWatch
  #isCheckingIn = false

  constructor(store: Store, settings: GuardSettings, watch: StoreWatch) {
    this.#guard = new Guard(store, settings, watch)
    this.#settings = settings
    this.#watch = watch
  }

  /** Whether it failed, and has not answered since. */
  get isAway(): boolean {
    return this.#guard.isDown
  }

  /** How long until it is asked again, in ms; 0 while it is there. */
  get awayMs(): number {
    return this.isAway ? Math.max(0, this.#guard.retryAt - this.#settings.clock.now()) : 0
  }

  /**
   * What the store says, at once if it answers at once; undefined where it does not within
   * `storeTimeoutMs`, or says what `read` throws at. Never throws, never rejects.
   */
  ask<T extends object>(call: () => unknown, read: (answer: unknown) => T): MaybePromise<T | undefined> {
    if (!this.#guard.isDown) return this.#guard.ask(call, read, false)
    if (this.#isCheckingIn || this.awayMs > 0) return undefined
    this.#isCheckingIn = true
    this.#guard.beginCheckIn()
    return after(this.#guard.ask(call, read, true), (answer) => {
      this.#isCheckingIn = false
      if (answer !== undefined) {
        this.#guard.endOutage()
        this.#watch.onStoreUp()
      }
      return answer
    })
  }
}
