import type { CircuitStore, Store } from '@tidegate/contract'
import type { Clock } from '../clock'
import { StoreError } from '../errors'
import { isThenable } from '../maybe-promise'
import { Backoff } from './backoff'
import type { Link } from './link'

/** What all breakers on one store know of it together. */
interface Standing {
  /** That it does not answer. An error is an answer, and concerns the circuit that got it; silence is the whole store's. */
  readonly silence: Backoff
  /** Whether its client was connected before. One that never was is most likely just being connected. */
  wasReady: boolean
}

/** Found by the store, so that ten thousand breakers ask a silent one once. */
const standings = new WeakMap<Store, Standing>()

/** How often a client that is being connected is looked at, in ms. */
const CONNECTING_MS = 10

/** Whose calls the guard protects. */
export interface GuardHost {
  /** The store went away; called once per outage, when it begins. */
  onStoreDown(error: unknown): void
}

export interface GuardSettings {
  readonly clock: Clock
  readonly random: () => number
  /** How long anybody waits for an answer, in ms. */
  readonly storeTimeoutMs: number
}

/**
 * Stands between a breaker and its store, so that nothing the store does, or
 * leaves undone, reaches a protected call: no call waits longer than `storeTimeoutMs`,
 * nothing is sent to a client that could only queue it, and a store that failed is
 * left alone until its backoff ran out. Then it is for the breaker to check in with it,
 * and to say when it is back.
 */
export class Guard implements Link {
  readonly #store: Store
  readonly #settings: GuardSettings
  readonly #host: GuardHost
  #own: Backoff | undefined
  readonly #standing: Standing
  /** Whether the store is away: it failed this breaker, and has not answered since. */
  isDown = false

  constructor(store: Store, settings: GuardSettings, host: GuardHost) {
    this.#store = store
    this.#settings = settings
    this.#host = host
    const known = standings.get(store)
    this.#standing = known ?? { silence: new Backoff(), wasReady: false }
    if (known === undefined) standings.set(store, this.#standing)
  }

  get #silence(): Backoff {
    return this.#standing.silence
  }

  get circuits(): CircuitStore {
    return this.#store.circuits
  }

  /** From when on it may be checked in with, by the clock. In the past while it is up. */
  get retryAt(): number {
    return Math.max(this.#own?.retryAt ?? this.#silence.retryAt, this.#silence.retryAt)
  }

  /** This breaker checks in; the others on a store that is silent wait for what becomes of it. */
  beginCheckIn(): void {
    const { clock, storeTimeoutMs } = this.#settings
    this.#silence.claim(clock.now() + storeTimeoutMs)
  }

  /** The store answered all that the check-in asked. */
  endOutage(): void {
    this.#own?.clear()
    this.#silence.clear()
    this.isDown = false
  }

  /**
   * The store's answer, at once if it answers at once; undefined if there is none
   * in time, or none that can be read. Never throws, never rejects.
   *
   * @param isCheckIn lets it through to a store that is away
   */
  ask<T>(
    call: () => unknown,
    read: (answer: unknown) => T,
    isCheckIn: boolean,
  ): T | undefined | Promise<T | undefined> {
    if (!isCheckIn && (this.isDown || this.#silence.isWaiting)) {
      this.#goDown(silent(this.#settings.storeTimeoutMs))
      return undefined
    }
    const { clock, storeTimeoutMs } = this.#settings
    if (this.#isReady()) return this.#send(call, read, storeTimeoutMs)
    if (isCheckIn || this.#standing.wasReady) return this.#failUnready()
    return this.#connect(call, read, clock.now() + storeTimeoutMs)
  }

  #send<T>(
    call: () => unknown,
    read: (answer: unknown) => T,
    leftMs: number,
  ): T | undefined | Promise<T | undefined> {
    this.#standing.wasReady = true
    let answer: unknown
    try {
      answer = call()
      if (!isThenable(answer)) return this.#accept(answer, read)
    } catch (error) {
      return this.#fail(error)
    }
    return this.#wait(answer, read, leftMs)
  }

  /** A process that has just begun does not take its first moment for an outage. Nothing is sent meanwhile. */
  #connect<T>(call: () => unknown, read: (answer: unknown) => T, until: number): Promise<T | undefined> {
    const { clock, random } = this.#settings
    return new Promise((resolve) => {
      const look = (): T | undefined | Promise<T | undefined> => {
        const isReady = this.#isReady()
        // By the clock and not by the looks: in a process that is busy each comes late.
        const leftMs = until - clock.now()
        if (leftMs > 0) return isReady ? this.#send(call, read, leftMs) : this.#connect(call, read, until)
        // Whoever comes next need not wait for it as well.
        if (!isReady) this.#silence.fail(clock.now(), random())
        return this.#failUnready()
      }
      clock.setTimeout(() => resolve(look()), Math.min(CONNECTING_MS, until - clock.now()), true)
    })
  }

  #wait<T>(
    answer: PromiseLike<unknown>,
    read: (answer: unknown) => T,
    leftMs: number,
  ): Promise<T | undefined> {
    const { clock, random, storeTimeoutMs } = this.#settings
    return new Promise((resolve) => {
      let isLate = false
      const cancel = clock.setTimeout(
        () => {
          isLate = true
          this.#silence.fail(clock.now(), random())
          this.#fail(silent(storeTimeoutMs))
          resolve(undefined)
        },
        leftMs,
        true,
      )
      const settle = (act: () => T | undefined): void => {
        if (isLate) return
        cancel()
        resolve(act())
      }
      // In a promise of its own: what a foreign `then` throws is one more kind of failure.
      new Promise((settled) => settled(answer)).then(
        (value) => settle(() => this.#accept(value, read)),
        (error: unknown) => settle(() => this.#fail(error)),
      )
    })
  }

  #accept<T>(answer: unknown, read: (answer: unknown) => T): T | undefined {
    try {
      return read(answer)
    } catch (error) {
      return this.#fail(error)
    }
  }

  #fail(error: unknown): undefined {
    const { clock, random } = this.#settings
    this.#own ??= new Backoff()
    this.#own.fail(clock.now(), random())
    this.#goDown(error)
  }

  #failUnready(): undefined {
    return this.#fail(new StoreError('STORE_NOT_READY', "the store's client is not connected"))
  }

  #goDown(error: unknown): void {
    if (this.isDown) return
    this.isDown = true
    this.#host.onStoreDown(error)
  }

  #isReady(): boolean {
    try {
      return this.#store.ready?.() !== false
    } catch {
      return false
    }
  }
}

function silent(timeoutMs: number): StoreError {
  return new StoreError('STORE_SILENT', `the store did not answer within ${timeoutMs} ms`)
}
