import type { CacheStore, Store } from '@tidegate/contract'
import type { Scope } from '../call/scope'
import { type Clock, systemClock } from '../clock'
import { CircuitIsolatedError, CircuitOpenError, OptionError } from '../errors'
import { isClock, OptionReader } from '../options'
import { Layer, type Next } from '../policy'
import { limitKey } from '../rate-limit/limiter'
import { GuardedStore } from '../store/guarded-store'
import { storeWith } from '../store/parts'
import { readFound } from './answers'
import { Flights, type Landing } from './flights'
import { LastAnswers } from './last-answers'

/** How old an answer is that is told again. */
export interface Staleness {
  readonly key: string
  readonly ageMs: number
}

export interface StaleCacheOptions {
  readonly name: string
  /**
   * What the calls have in common that get the same answer, made of the arguments of a wrapped
   * function. Without it, and for `execute`, it is the `key` of the call.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the arguments are those of whatever function is wrapped
  readonly key?: ((...args: any[]) => string) | undefined
  /** An answer that is older is not told again, in ms. */
  readonly maxAgeMs: number
  /** Answers kept in this process; of more, the oldest go. @default 1_000 */
  readonly maxKeys?: number | undefined
  /** Also shares answers with the fleet, as text. @default nothing is shared */
  readonly store?: Store | undefined
  /** How an answer becomes text. @default JSON.stringify */
  readonly serialize?: ((value: unknown) => string) | undefined
  /** @default JSON.parse */
  readonly deserialize?: ((text: string) => unknown) | undefined
  /** What a caller gets instead of an old answer, so that it says that it is old. @default the answer as it was */
  readonly markStale?: ((value: unknown, staleness: Staleness) => unknown) | undefined
  /** Whether calls of one key at the same time are one call. @default true */
  readonly singleFlight?: boolean | undefined
  /** How long a call may wait for the store's answer, in ms. @default 250 */
  readonly storeTimeoutMs?: number | undefined
  /** @default the process' monotonic clock */
  readonly clock?: Clock | undefined
  /** From 0 to below 1. @default Math.random */
  readonly random?: (() => number) | undefined
}

export interface StaleCacheEvents {
  /** An old answer was told. */
  stale: Staleness
  storeDown: { readonly error: unknown; readonly since: number }
  storeUp: { readonly since: number }
}

export interface StaleCacheStats {
  readonly calls: number
  /** Calls that got an old answer. */
  readonly stale: number
  /** Calls that got what another call of their key came to. */
  readonly joined: number
  /** Answers kept. */
  readonly size: number
}

const KNOWN: Readonly<Record<keyof StaleCacheOptions, true>> = {
  name: true,
  key: true,
  maxAgeMs: true,
  maxKeys: true,
  store: true,
  serialize: true,
  deserialize: true,
  markStale: true,
  singleFlight: true,
  storeTimeoutMs: true,
  clock: true,
  random: true,
}
const EVENTS = { stale: true, storeDown: true, storeUp: true } as const

/** A key is shared anew so many times in the life of an answer, however often it is called. */
const SHARINGS = 10

/** A longer text is not shared: a store is no place for it. */
const MAX_TEXT = 1_000_000

interface Shared {
  readonly cache: CacheStore
  readonly guarded: GuardedStore
}

/**
 * Tells the last good answer while the circuit within is open or isolated. Any other failure
 * passes: it is the caller who should know of it.
 *
 * What is told again is the same object: change none that you were given.
 */
export class StaleCache extends Layer<StaleCacheEvents> {
  readonly kind = 'staleCache'
  readonly name: string
  readonly clock: Clock
  readonly #keyOf: ((...args: unknown[]) => string) | undefined
  readonly #maxAgeMs: number
  readonly #serialize: (value: unknown) => string
  readonly #deserialize: (text: string) => unknown
  readonly #markStale: ((value: unknown, staleness: Staleness) => unknown) | undefined
  readonly #isSingle: boolean
  readonly #answers: LastAnswers
  readonly #flights = new Flights()
  readonly #shared: Shared | undefined
  #calls = 0
  #stale = 0
  #joined = 0

  /** Use `staleCache(options)`. */
  constructor(options: StaleCacheOptions) {
    super()
    const read = new OptionReader('staleCache', options, KNOWN)
    this.name = read.text('name')
    this.clock = read.read<Clock, Clock>('clock', systemClock, 'a Clock', isClock)
    this.#keyOf = read.function<(...args: unknown[]) => string, undefined>('key', undefined)
    this.#maxAgeMs =
      read.milliseconds('maxAgeMs', undefined) ?? read.refuse('maxAgeMs', 'given, in whole milliseconds')
    this.#answers = new LastAnswers(read.count('maxKeys', 1_000))
    this.#serialize = read.function<(value: unknown) => string, typeof JSON.stringify>(
      'serialize',
      JSON.stringify,
    )
    this.#deserialize = read.function<(text: string) => unknown, typeof JSON.parse>('deserialize', JSON.parse)
    this.#markStale = read.function<(value: unknown, staleness: Staleness) => unknown, undefined>(
      'markStale',
      undefined,
    )
    this.#isSingle = read.boolean('singleFlight', true)
    const settings = {
      clock: this.clock,
      random: read.function<() => number, () => number>('random', Math.random),
      storeTimeoutMs: read.milliseconds('storeTimeoutMs', 250),
    }
    const store = storeWith(read, 'cache')
    if (store === undefined) return
    const watch = {
      onStoreDown: (error: unknown) => this.events.emit('storeDown', { error, since: this.clock.now() }),
      onStoreUp: () => this.events.emit('storeUp', { since: this.clock.now() }),
    }
    this.#shared = { cache: store.cache, guarded: new GuardedStore(store, settings, watch) }
  }

  protected get eventNames(): typeof EVENTS {
    return EVENTS
  }

  async run<T>(next: Next<T>, scope: Scope): Promise<T> {
    this.#calls++
    const key = this.#keyFor(scope)
    if (!this.#isSingle) return await this.#go(key, next, scope)
    while (!this.#flights.begin(key)) {
      const landing = await this.#ride<T>(key, scope)
      if (landing === 'aborted') continue
      // What can be read once only is nobody else's: each makes its own call.
      if ('value' in landing && isReadOnce(landing.value)) return await this.#go(key, next, scope)
      this.#joined++
      if ('error' in landing) return await this.#answerInstead<T>(key, landing.error)
      return landing.value
    }
    return await this.#lead(key, next, scope)
  }

  stats(): StaleCacheStats {
    return { calls: this.#calls, stale: this.#stale, joined: this.#joined, size: this.#answers.size }
  }

  /** Forgets the answer of a key, here and in the store. */
  async forget(key: string): Promise<void> {
    this.#answers.delete(key)
    const shared = this.#shared
    if (shared === undefined) return
    await shared.guarded.ask(() => shared.cache.delete(this.#sharedKey(key)), readDone)
  }

  override describe(): string {
    return `staleCache "${this.name}" of answers up to ${this.#maxAgeMs} ms old`
  }

  /** Makes the call that others of its key wait for. */
  async #lead<T>(key: string, next: Next<T>, scope: Scope): Promise<T> {
    let isLanded = false
    const land = (landing: Landing<T>): void => {
      // Once: the next flight of this key is another's.
      if (!isLanded) this.#flights.land(key, landing)
      isLanded = true
    }
    // At the abort, and not when the function settles: one of those who wait has to go.
    scope.onAbort(() => land('aborted'))
    try {
      const value = await next(scope)
      this.#keep(key, value)
      land({ value })
      return value
    } catch (error) {
      if (scope.aborted) throw error
      land({ error })
      return await this.#answerInstead<T>(key, error)
    }
  }

  async #go<T>(key: string, next: Next<T>, scope: Scope): Promise<T> {
    try {
      const value = await next(scope)
      this.#keep(key, value)
      return value
    } catch (error) {
      if (scope.aborted) throw error
      return await this.#answerInstead<T>(key, error)
    }
  }

  #ride<T>(key: string, scope: Scope): Promise<Landing<T>> {
    return new Promise((resolve, reject) => {
      const leave = this.#flights.join<T>(key, resolve)
      scope.onAbort((reason) => {
        leave()
        reject(reason)
      })
    })
  }

  /** The last good answer where it was a circuit that let nothing through, and there is one; else the error. */
  async #answerInstead<T>(key: string, error: unknown): Promise<T> {
    if (!(error instanceof CircuitOpenError || error instanceof CircuitIsolatedError)) throw error
    const found = this.#own(key) ?? (await this.#others(key))
    if (found === undefined) throw error
    const staleness = { key, ageMs: found.ageMs }
    this.#stale++
    this.events.emit('stale', staleness)
    return this.#marked(found.value, staleness) as T
  }

  #own(key: string): { readonly value: unknown; readonly ageMs: number } | undefined {
    const kept = this.#answers.get(key)
    if (kept === undefined) return undefined
    const ageMs = this.clock.now() - kept.at
    return ageMs <= this.#maxAgeMs ? { value: kept.value, ageMs } : undefined
  }

  async #others(key: string): Promise<{ readonly value: unknown; readonly ageMs: number } | undefined> {
    const shared = this.#shared
    if (shared === undefined) return undefined
    const answer = await shared.guarded.ask(() => shared.cache.get(this.#sharedKey(key)), readFound)
    const entry = answer?.entry
    if (entry === undefined || entry.ageMs > this.#maxAgeMs) return undefined
    try {
      const value = this.#deserialize(entry.value)
      const now = this.clock.now()
      this.#answers.set(key, { value, at: now - entry.ageMs, sharedAt: now })
      return { value, ageMs: entry.ageMs }
    } catch (error) {
      this.events.complain('deserialize', error)
      return undefined
    }
  }

  #keep(key: string, value: unknown): void {
    if (isReadOnce(value)) return
    const now = this.clock.now()
    const sharedAt = this.#answers.get(key)?.sharedAt ?? Number.NEGATIVE_INFINITY
    const isToShare = this.#shared !== undefined && now - sharedAt >= this.#maxAgeMs / SHARINGS
    this.#answers.set(key, { value, at: now, sharedAt: isToShare ? now : sharedAt })
    if (isToShare) this.#share(key, value)
  }

  /** In the background: no call waits for it. */
  #share(key: string, value: unknown): void {
    const shared = this.#shared as Shared
    try {
      const text = this.#serialize(value)
      if (typeof text !== 'string') throw new TypeError(`a text was expected, got ${typeof text}`)
      if (text.length > MAX_TEXT)
        throw new RangeError(`a text of ${text.length} characters is too long to share`)
      void shared.guarded.ask(
        () => shared.cache.set(this.#sharedKey(key), text, { ttlMs: this.#maxAgeMs }),
        readDone,
      )
    } catch (error) {
      this.events.complain('serialize', error)
    }
  }

  #sharedKey(key: string): string {
    return limitKey(this.name, key)
  }

  #marked(value: unknown, staleness: Staleness): unknown {
    if (this.#markStale === undefined) return value
    try {
      return this.#markStale(value, staleness)
    } catch (error) {
      this.events.complain('markStale', error)
      return value
    }
  }

  /** @throws OptionError: without a key one call would get the answer of another */
  #keyFor({ call }: Scope): string {
    const key = this.#keyOf !== undefined && call.args !== undefined ? this.#keyOf(...call.args) : call.key
    if (typeof key === 'string' && key.length > 0) return key
    throw new OptionError(
      'key',
      `staleCache: a call of "${this.name}" has no key; hand one to execute, or give the option key and wrap`,
    )
  }
}

/** What is gone once it was read: a Response, a stream, an iterator. */
function isReadOnce(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { bodyUsed, getReader, pipe, next } = value as Readonly<Record<string, unknown>>
  return (
    typeof bodyUsed === 'boolean' ||
    [getReader, pipe, next].some((method) => typeof method === 'function') ||
    Symbol.asyncIterator in value
  )
}

const DONE = {}

function readDone(): object {
  return DONE
}

/**
 * Tells the last good answer while the circuit within is open.
 *
 * @throws OptionError naming the option, what it takes and what it got
 */
export function staleCache(options: StaleCacheOptions): StaleCache {
  return new StaleCache(options)
}
