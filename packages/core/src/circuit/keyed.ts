import { fleetSpanMs } from '@tidegate/contract'
import { Identity } from '../identity'
import { OptionReader } from '../options'
import { CircuitBreaker, settingsChanged } from './breaker'
import {
  type CircuitBreakerOptions,
  type CircuitReconfiguration,
  type CircuitSettings,
  circuitSettings,
  reconfigure,
} from './options'

export interface KeyedOptions {
  /** Breakers kept at the same time. @default 10_000 */
  readonly maxKeys?: number | undefined
}

/** A key this long is somebody's mistake or attack; its breaker's name would be too. */
const LONGEST_KEY = 1_024

/** How many breakers are looked at for one that may go: a call must not search through ten thousand open ones. */
const LOOKED_AT = 16

/** How many are kept beyond those there is room for, so that a key that is in use is not a new breaker each time. */
const BEYOND = 16

interface Entry {
  readonly breaker: CircuitBreaker
  usedAt: number
}

/**
 * A breaker per host, tenant or other key, in bounded memory. The least recently
 * used goes first, but never one whose circuit is not closed: forgetting that
 * would let traffic through to what is known to be down. When all are kept for
 * that reason, a further key gets a breaker that is kept only until a few others
 * were asked for; its circuit is in the store all the same.
 */
export class KeyedCircuitBreaker {
  readonly kind = 'circuitBreaker.keyed'
  readonly name: string
  readonly #settings: CircuitSettings
  readonly #maxKeys: number
  /** In the order of their last use, those that may not go aside. */
  readonly #entries = new Map<string, Entry>()
  /** Those there was no room for, the last few. */
  readonly #beyond = new Map<string, CircuitBreaker>()
  /** One for all: to the store they are one instance, however often the breaker of a key is made anew. */
  readonly #identity = new Identity()
  readonly #prefix: string

  /** @throws OptionError naming the option, what it takes and what it got */
  constructor(options: CircuitBreakerOptions, keyed: KeyedOptions) {
    const read = new OptionReader('circuitBreaker.keyed', keyed, { maxKeys: true })
    this.#maxKeys = read.count('maxKeys', 10_000)
    this.#settings = circuitSettings(options, this.#maxKeys)
    this.name = this.#settings.name
    // The bar ends the name: without this ('a|b', 'c') and ('a', 'b|c') would be one circuit.
    this.#prefix = `${this.name.replace(/[|%]/g, encodeURIComponent)}|`
  }

  get size(): number {
    return this.#entries.size
  }

  /**
   * The breaker of a key; the same one as long as it is kept.
   *
   * @throws TypeError if the key is no string, is empty, or has more than 1,024 characters
   */
  for(key: string): CircuitBreaker {
    const now = this.#settings.clock.now()
    const known = this.#entries.get(key)
    if (known !== undefined) {
      known.usedAt = now
      this.#entries.delete(key)
      this.#entries.set(key, known)
      return known.breaker
    }
    checkKey(key)
    const breaker =
      this.#beyond.get(key) ?? new CircuitBreaker(this.#prefix + key, this.#settings, this.#identity)
    this.#beyond.delete(key)
    if (this.#entries.size < this.#maxKeys || this.#evictOne(now)) {
      this.#entries.set(key, { breaker, usedAt: now })
    } else {
      this.#keepBeyond(key, breaker)
    }
    return breaker
  }

  /** The breakers that are kept, with their keys. */
  *entries(): IterableIterator<[string, CircuitBreaker]> {
    for (const [key, { breaker }] of [...this.#entries]) yield [key, breaker]
  }

  /**
   * Changes options of all breakers, those to come included: see `CircuitBreaker.reconfigure`.
   *
   * @throws OptionError naming the option, what it takes and what it got; then nothing is changed
   */
  reconfigure(options: CircuitReconfiguration): void {
    reconfigure(this.#settings, options)
    for (const breaker of this.#all()) settingsChanged(breaker)
  }

  async flush(): Promise<void> {
    await Promise.all(this.#all().map((breaker) => breaker.flush()))
  }

  async close(): Promise<void> {
    await Promise.all(this.#all().map((breaker) => breaker.close()))
    this.#entries.clear()
    this.#beyond.clear()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #all(): CircuitBreaker[] {
    return [...Array.from(this.#entries.values(), ({ breaker }) => breaker), ...this.#beyond.values()]
  }

  #keepBeyond(key: string, breaker: CircuitBreaker): void {
    this.#beyond.set(key, breaker)
    if (this.#beyond.size <= BEYOND) return
    for (const [oldest, other] of this.#beyond) {
      this.#beyond.delete(oldest)
      letGo(other)
      return
    }
  }

  /** How long after its last call the circuit of a key is gone from the store. */
  get #idleMs(): number {
    const { window, cooldown } = this.#settings
    return 2 * Math.max(fleetSpanMs(window), cooldown.backoff.maxMs)
  }

  #evictOne(now: number): boolean {
    let looked = 0
    for (const [key, entry] of this.#entries) {
      if (looked++ === LOOKED_AT) return false
      this.#entries.delete(key)
      // After so long without a call its circuit is gone from the store as well.
      const isIdle = now - entry.usedAt > this.#idleMs && entry.breaker.state !== 'isolated'
      if (isIdle || entry.breaker.state === 'closed') {
        letGo(entry.breaker)
        return true
      }
      // To the end, so that the next search begins behind it.
      this.#entries.set(key, entry)
    }
    return false
  }
}

/** Nobody waits for what it has yet to send, nor hears whether it came through. */
function letGo(breaker: CircuitBreaker): void {
  breaker.close().catch(() => {})
}

function checkKey(key: unknown): void {
  if (typeof key === 'string' && key.length > 0 && key.length <= LONGEST_KEY) return
  const got = typeof key === 'string' ? `one of ${key.length} characters` : `a value of type ${typeof key}`
  throw new TypeError(
    `circuitBreaker.keyed: a key must be a string of 1 to ${LONGEST_KEY} characters, got ${got}`,
  )
}
