import { deadlinesOf } from '../call/deadlines'
import type { Scope } from '../call/scope'
import { type Clock, systemClock } from '../clock'
import { BulkheadFullError, withoutStack } from '../errors'
import { isClock, OptionReader } from '../options'
import { Layer, type Next } from '../policy'
import { type Order, Queue, type Waiter } from '../queue'

/** What a priority may be made of. */
export interface CallInfo {
  readonly key: string | undefined
  readonly metadata: unknown
}

export interface BulkheadOptions {
  readonly name: string
  /** Calls that may be on their way at the same time. */
  readonly limit: number
  /** Calls that may wait for a slot. @default 0 */
  readonly queue?: number | undefined
  /** How long a call may wait for one, in ms; required with a queue. */
  readonly maxWaitMs?: number | undefined
  /**
   * `'lifo-under-overload'` lets the latest go first once the longest waiting one has
   * waited for half of `maxWaitMs`: under overload the early ones will be given up by
   * their callers anyway, and in turn everybody would wait for as long as they do.
   *
   * @default 'fifo'
   */
  readonly order?: Order | undefined
  /** Whoever has more goes first; equal ones by `order`. @default 0 for all */
  readonly priority?: ((call: CallInfo) => number) | undefined
  /** @default the process' monotonic clock */
  readonly clock?: Clock | undefined
}

export interface BulkheadEvents {
  /** A call was refused: no slot and no place in the queue, or the wait was over. */
  reject: { readonly reason: 'full' | 'wait'; readonly retryAfterMs: number | undefined }
}

export interface BulkheadStats {
  /** Functions that have not settled, given up by their callers or not. */
  readonly inUse: number
  readonly queued: number
  readonly limit: number
  /** How long the longest waiting call has waited, in ms; 0 where none waits. */
  readonly oldestMs: number
  readonly rejected: number
}

const KNOWN: Readonly<Record<keyof BulkheadOptions, true>> = {
  name: true,
  limit: true,
  queue: true,
  maxWaitMs: true,
  order: true,
  priority: true,
  clock: true,
}
const EVENTS = { reject: true } as const

/** How much the latest interval weighs in the drain rate. */
const WEIGHT = 0.2

interface Settings {
  readonly limit: number
  readonly queue: number
  readonly maxWaitMs: number
  readonly order: Order
  readonly priority: ((call: CallInfo) => number) | undefined
}

/**
 * Lets so many calls be on their way at the same time, and so many wait. A slot is
 * free when its function has settled, and not when its caller has left: the
 * dependency is still at work on it.
 */
export class Bulkhead extends Layer<BulkheadEvents> {
  readonly kind = 'bulkhead'
  readonly name: string
  readonly clock: Clock
  readonly #options: BulkheadOptions
  readonly #queue = new Queue()
  #settings: Settings
  #inUse = 0
  #rejected = 0
  /** When a slot was last given to one who waited, and how long it takes from one to the next. */
  #drainedAt: number | undefined
  #drainMs: number | undefined

  /** Use `bulkhead(options)`. */
  constructor(options: BulkheadOptions) {
    super()
    const read = new OptionReader('bulkhead', options, KNOWN)
    this.name = read.text('name')
    this.clock = read.read<Clock, Clock>('clock', systemClock, 'a Clock', isClock)
    this.#options = options
    this.#settings = settingsOf(read)
  }

  protected get eventNames(): typeof EVENTS {
    return EVENTS
  }

  run<T>(next: Next<T>, scope: Scope): Promise<T> {
    if (scope.aborted) return Promise.reject(scope.reason)
    if (this.#inUse >= this.#settings.limit || this.#queue.size > 0) return this.#wait(next, scope)
    this.#inUse++
    return this.#hold(next, scope)
  }

  stats(): BulkheadStats {
    const since = this.#queue.oldestSince
    return {
      inUse: this.#inUse,
      queued: this.#queue.size,
      limit: this.#settings.limit,
      oldestMs: since === undefined ? 0 : this.clock.now() - since,
      rejected: this.#rejected,
    }
  }

  override describe(): string {
    const { limit, queue } = this.#settings
    return `bulkhead "${this.name}" of ${limit}${queue > 0 ? `, with a queue of ${queue}` : ''}`
  }

  /**
   * Other options. A higher limit lets those in who wait; a lower one holds for the next
   * calls, and those on their way go on.
   *
   * @throws OptionError naming the option, what it takes and what it got; then nothing is changed
   */
  reconfigure(options: Omit<BulkheadOptions, 'name' | 'clock'>): void {
    this.#settings = settingsOf(new OptionReader('bulkhead', { ...this.#options, ...options }, KNOWN))
    this.#drain()
  }

  async #hold<T>(next: Next<T>, scope: Scope): Promise<T> {
    try {
      return await next(scope)
    } finally {
      this.#inUse--
      if (this.#queue.size > 0) this.#drain()
    }
  }

  #wait<T>(next: Next<T>, scope: Scope): Promise<T> {
    const { queue, maxWaitMs, priority } = this.#settings
    if (this.#queue.size >= queue) return Promise.reject(this.#refuse('full'))
    const now = this.clock.now()
    return new Promise<T>((resolve, reject) => {
      const deadlines = deadlinesOf(this.clock)
      const waiter: Waiter = {
        priority: priority === undefined ? 0 : this.#priorityOf(priority, scope),
        since: now,
        place: -1,
        start: () => {
          deadlines.clear(deadline)
          this.#hold(next, scope).then(resolve, reject)
        },
      }
      const deadline = deadlines.set(now, maxWaitMs, () => {
        if (this.#queue.remove(waiter)) reject(this.#refuse('wait'))
      })
      this.#queue.add(waiter)
      // Who leaves gives up his place at once, and takes none of the slots.
      scope.onAbort((reason) => {
        if (!this.#queue.remove(waiter)) return
        deadlines.clear(deadline)
        reject(reason)
      })
    })
  }

  #drain(): void {
    while (this.#inUse < this.#settings.limit) {
      const waiter = this.#queue.take(this.#isOverloaded())
      if (waiter === undefined) return
      this.#measureDrain()
      this.#inUse++
      waiter.start()
    }
  }

  #isOverloaded(): boolean {
    const { order, maxWaitMs } = this.#settings
    if (order === 'fifo') return false
    const since = this.#queue.oldestSince
    return since !== undefined && this.clock.now() - since >= maxWaitMs / 2
  }

  #measureDrain(): void {
    const now = this.clock.now()
    if (this.#drainedAt !== undefined) {
      const interval = now - this.#drainedAt
      this.#drainMs =
        this.#drainMs === undefined ? interval : this.#drainMs + WEIGHT * (interval - this.#drainMs)
    }
    this.#drainedAt = now
  }

  #priorityOf(priority: (call: CallInfo) => number, { call }: Scope): number {
    try {
      const value = priority({ key: call.key, metadata: call.metadata })
      if (typeof value === 'number' && !Number.isNaN(value)) return value
      throw new TypeError(`a priority must be a number, got ${typeof value}`)
    } catch (error) {
      this.events.complain('priority', error)
      return 0
    }
  }

  #refuse(reason: 'full' | 'wait'): BulkheadFullError {
    this.#rejected++
    // As long as those who wait need, at the rate of late.
    const ms = this.#drainMs
    const retryAfterMs = ms === undefined ? undefined : Math.ceil(Math.max(1, ms * (this.#queue.size + 1)))
    this.events.emit('reject', { reason, retryAfterMs })
    return withoutStack(() => new BulkheadFullError(this.name, retryAfterMs))
  }
}

function settingsOf(read: OptionReader<BulkheadOptions>): Settings {
  const queue = read.count('queue', 0, 0)
  const maxWaitMs = read.milliseconds('maxWaitMs', undefined)
  if (queue > 0 && maxWaitMs === undefined)
    read.refuse('maxWaitMs', 'given with a queue, in whole milliseconds')
  if (queue === 0 && maxWaitMs !== undefined)
    read.refuse('maxWaitMs', 'left out without a queue, where nobody waits')
  if (queue === 0 && read.has('order')) read.refuse('order', 'left out without a queue')
  if (queue === 0 && read.has('priority')) read.refuse('priority', 'left out without a queue')
  return {
    limit: read.count('limit', undefined) ?? read.refuse('limit', 'given, as a whole number of at least 1'),
    queue,
    maxWaitMs: maxWaitMs ?? 0,
    order: read.oneOf('order', ['fifo', 'lifo-under-overload'], 'fifo'),
    priority: read.function('priority', undefined),
  }
}

/**
 * Bounds how many calls are on their way at the same time.
 *
 * A call that waits for a slot of the bulkhead within which it runs waits for itself,
 * until `maxWaitMs`: use another one inside.
 *
 * @throws OptionError naming the option, what it takes and what it got
 */
export function bulkhead(options: BulkheadOptions): Bulkhead {
  return new Bulkhead(options)
}
