import type { MaybePromise, Quota, Store } from '@tidegate/contract'
import { memoryStore } from '@tidegate/store-memory'
import type { CallInfo } from '../bulkhead/bulkhead'
import { deadlinesOf } from '../call/deadlines'
import type { Scope } from '../call/scope'
import { type Clock, systemClock } from '../clock'
import { RateLimitedError, withoutStack } from '../errors'
import { isThenable } from '../maybe-promise'
import { isClock, isWhole, merge, OptionReader } from '../options'
import { Layer, type Next } from '../policy'
import { storeWith } from '../store/parts'
import { Limiter, type OnStoreDown, type Verdict } from './limiter'
import { Line, type Waiting } from './line'
import { type QuotasOptions, quotasOf, refuseOtherQuotas, replaceQuotas } from './quotas'

export interface RateLimitOptions extends QuotasOptions {
  /** Where the fleet counts. @default a memory store of its own */
  readonly store?: Store | undefined
  /** What a call consumes: a whole number, or one for each call. @default 1 */
  readonly cost?: number | ((call: CallInfo) => number) | undefined
  /** How long a call may wait for its share, in ms. @default 0: it is refused */
  readonly maxWaitMs?: number | undefined
  /** Calls that may wait, of all keys together. @default 1_000 with `maxWaitMs` */
  readonly queue?: number | undefined
  /** How long a call may wait for the store's answer, in ms. @default 250 */
  readonly storeTimeoutMs?: number | undefined
  /**
   * Who decides while the store is away: `'local'`, each instance by itself, by the same quotas;
   * `'allow'` and `'deny'` decide nothing.
   *
   * @default 'local'
   */
  readonly onStoreDown?: OnStoreDown | undefined
  /** @default the process' monotonic clock */
  readonly clock?: Clock | undefined
  /** From 0 to below 1. @default Math.random */
  readonly random?: (() => number) | undefined
}

export interface RateLimitEvents {
  /** A call waits; as the store sees it, for so long. */
  wait: { readonly retryAfterMs: number }
  /** A call was refused: by a quota at once, for want of a place in the queue, or after its wait. */
  reject: { readonly reason: 'quota' | 'queue' | 'wait'; readonly retryAfterMs: number }
  /** The store does not answer: once per outage. */
  storeDown: { readonly error: unknown; readonly since: number }
  /** The store answers again. */
  storeUp: { readonly since: number }
}

export interface RateLimitStats {
  readonly allowed: number
  readonly rejected: number
  readonly queued: number
  /** How long the longest waiting call has waited, in ms; 0 where none waits. */
  readonly oldestMs: number
  /** Decisions that the store had no part in. */
  readonly degraded: number
}

const KNOWN: Readonly<Record<keyof RateLimitOptions, true>> = {
  name: true,
  store: true,
  limit: true,
  windowMs: true,
  algorithm: true,
  burst: true,
  quotas: true,
  cost: true,
  maxWaitMs: true,
  queue: true,
  storeTimeoutMs: true,
  onStoreDown: true,
  clock: true,
  random: true,
}
const EVENTS = { wait: true, reject: true, storeDown: true, storeUp: true } as const

const FIXED = ['name', 'store', 'onStoreDown', 'storeTimeoutMs', 'clock', 'random'] as const

/** Keys that are counted for while the store is away. */
const LOCAL_KEYS = 10_000

/** What may change while it lives. */
interface Settings {
  readonly quotas: readonly Quota[]
  readonly cost: number | ((call: CallInfo) => number)
  readonly maxWaitMs: number
  readonly queue: number
}

/**
 * Calls a dependency no more often than it allows, over the whole fleet. With a `key`
 * of the call's the quota is each key's own. A call that has to wait stands in line.
 */
export class RateLimit extends Layer<RateLimitEvents> {
  readonly kind = 'rateLimit'
  readonly name: string
  readonly clock: Clock
  readonly #store: Store
  readonly #limiter: Limiter
  /** By key; only those in which somebody waits. */
  readonly #lines = new Map<string, Line>()
  #options: RateLimitOptions
  #settings: Settings
  #queued = 0
  #allowed = 0
  #rejected = 0
  #degraded = 0

  /** Use `rateLimit(options)`. */
  constructor(options: RateLimitOptions) {
    super()
    const read = new OptionReader('rateLimit', options, KNOWN)
    this.name = read.text('name')
    this.clock = read.read<Clock, Clock>('clock', systemClock, 'a Clock', isClock)
    this.#options = options
    this.#settings = settingsOf(read, options)
    const store = storeWith(read, 'limits') ?? memoryStore({ clock: this.clock })
    const settings = {
      name: this.name,
      onStoreDown: read.oneOf('onStoreDown', ['local', 'allow', 'deny'], 'local'),
      maxKeys: LOCAL_KEYS,
      clock: this.clock,
      random: read.function<() => number, () => number>('random', Math.random),
      storeTimeoutMs: read.milliseconds('storeTimeoutMs', 250),
    }
    refuseOtherQuotas('rateLimit', store, this.name, this.#settings.quotas)
    this.#store = store
    this.#limiter = new Limiter(store, settings, {
      onStoreDown: (error) => this.events.emit('storeDown', { error, since: this.clock.now() }),
      onStoreUp: () => this.events.emit('storeUp', { since: this.clock.now() }),
    })
  }

  protected get eventNames(): typeof EVENTS {
    return EVENTS
  }

  run<T>(next: Next<T>, scope: Scope): Promise<T> {
    if (scope.aborted) return Promise.reject(scope.reason)
    const key = scope.call.key ?? ''
    const cost = this.#costOf(scope)
    const line = this.#lines.get(key)
    if (line !== undefined) return this.#wait(key, cost, line.nextMs, next, scope)
    const verdict = this.#consume(key, cost)
    if (isThenable(verdict)) return this.#enterLater(verdict as Promise<Verdict>, key, cost, next, scope)
    return this.#enter(verdict as Verdict, key, cost, next, scope)
  }

  stats(): RateLimitStats {
    let oldest: number | undefined
    for (const line of this.#lines.values()) {
      const since = line.oldestSince ?? Number.POSITIVE_INFINITY
      oldest = Math.min(oldest ?? since, since)
    }
    return {
      allowed: this.#allowed,
      rejected: this.#rejected,
      queued: this.#queued,
      oldestMs: oldest === undefined ? 0 : this.clock.now() - oldest,
      degraded: this.#degraded,
    }
  }

  override describe(): string {
    const quotas = this.#settings.quotas.map(
      ({ limit, windowMs, algorithm }) => `${limit} in ${windowMs} ms by ${algorithm}`,
    )
    const { maxWaitMs } = this.#settings
    return `rateLimit "${this.name}" of ${quotas.join(' and ')}${maxWaitMs > 0 ? `, waits up to ${maxWaitMs} ms` : ''}`
  }

  /**
   * Other options, from the next call on; what was consumed stays so, where the window is the same.
   * All policies of this name on this store must be told.
   *
   * @throws OptionError naming the option, what it takes and what it got; then nothing is changed
   */
  reconfigure(
    options: Partial<
      Pick<
        RateLimitOptions,
        'limit' | 'windowMs' | 'algorithm' | 'burst' | 'quotas' | 'cost' | 'maxWaitMs' | 'queue'
      >
    >,
  ): void {
    const merged = merge('rateLimit', this.#options, options, FIXED)
    this.#settings = settingsOf(new OptionReader('rateLimit', merged, KNOWN), merged)
    this.#options = merged
    replaceQuotas(this.#store, this.name, this.#settings.quotas)
  }

  #consume(key: string, cost: number): MaybePromise<Verdict> {
    return this.#limiter.consume(key, this.#settings.quotas, cost)
  }

  async #enterLater<T>(
    verdict: Promise<Verdict>,
    key: string,
    cost: number,
    next: Next<T>,
    scope: Scope,
  ): Promise<T> {
    const came = await verdict
    if (scope.aborted) throw scope.reason
    return await this.#enter(came, key, cost, next, scope)
  }

  #enter<T>(verdict: Verdict, key: string, cost: number, next: Next<T>, scope: Scope): Promise<T> {
    if (verdict.isDegraded) this.#degraded++
    if (!verdict.allowed) return this.#wait(key, cost, verdict.retryAfterMs, next, scope)
    return this.#pass(next, scope)
  }

  async #pass<T>(next: Next<T>, scope: Scope): Promise<T> {
    this.#allowed++
    return await next(scope)
  }

  /** In line, if it may wait for so long. */
  #wait<T>(key: string, cost: number, retryAfterMs: number, next: Next<T>, scope: Scope): Promise<T> {
    const { maxWaitMs, queue } = this.#settings
    // What is known to come too late is not waited for.
    if (retryAfterMs > maxWaitMs || retryAfterMs >= scope.remainingMs) {
      return Promise.reject(this.#refuse('quota', retryAfterMs))
    }
    if (this.#queued >= queue) return Promise.reject(this.#refuse('queue', retryAfterMs))
    this.events.emit('wait', { retryAfterMs })
    const now = this.clock.now()
    const deadlines = deadlinesOf(this.clock)
    const line = this.#lineOf(key)
    this.#queued++
    return new Promise<T>((resolve, reject) => {
      const leave = (): boolean => {
        if (!line.remove(waiting)) return false
        this.#queued--
        return true
      }
      const deadline = deadlines.set(now, maxWaitMs, () => {
        if (leave()) reject(this.#refuse('wait', line.nextMs))
      })
      const waiting: Waiting = {
        cost,
        priority: 0,
        since: now,
        place: -1,
        start: () => {
          this.#queued--
          deadlines.clear(deadline)
          this.#pass(next, scope).then(resolve, reject)
        },
      }
      line.add(waiting, retryAfterMs)
      scope.onAbort((reason) => {
        if (!leave()) return
        deadlines.clear(deadline)
        reject(reason)
      })
    })
  }

  #lineOf(key: string): Line {
    const known = this.#lines.get(key)
    if (known !== undefined) return known
    const line = new Line(
      this.clock,
      async (cost) => {
        const verdict = await this.#consume(key, cost)
        if (verdict.isDegraded) this.#degraded++
        return verdict
      },
      () => this.#lines.delete(key),
    )
    this.#lines.set(key, line)
    return line
  }

  #costOf({ call }: Scope): number {
    const { cost } = this.#settings
    if (typeof cost === 'number') return cost
    try {
      const value = cost({ key: call.key, metadata: call.metadata })
      if (isWhole(value, 0)) return value
      throw new TypeError(`a cost must be a whole number, at least 0, got ${typeof value}`)
    } catch (error) {
      this.events.complain('cost', error)
      return 1
    }
  }

  #refuse(reason: 'quota' | 'queue' | 'wait', retryAfterMs: number): RateLimitedError {
    this.#rejected++
    this.events.emit('reject', { reason, retryAfterMs })
    return withoutStack(() => new RateLimitedError(this.name, retryAfterMs, 'dependency'))
  }
}

function settingsOf(read: OptionReader<RateLimitOptions>, options: RateLimitOptions): Settings {
  const maxWaitMs = read.milliseconds('maxWaitMs', 0, 0)
  if (maxWaitMs === 0 && read.has('queue'))
    read.refuse('queue', 'left out without maxWaitMs, where nobody waits')
  const takes = 'a whole number, at least 0, or a function'
  const isCost = (value: unknown) => typeof value === 'function' || isWhole(value, 0)
  return {
    quotas: quotasOf(read, options),
    cost: read.read<Settings['cost'], number>('cost', 1, takes, isCost),
    maxWaitMs,
    queue: read.count('queue', 1_000),
  }
}

/**
 * Bounds how often a dependency is called.
 *
 * @throws OptionError naming the option, what it takes and what it got
 */
export function rateLimit(options: RateLimitOptions): RateLimit {
  return new RateLimit(options)
}
