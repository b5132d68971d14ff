import type { Store } from '@tidegate/contract'
import { memoryStore } from '@tidegate/store-memory'
import { deadlinesOf } from '../call/deadlines'
import type { Scope } from '../call/scope'
import { Work } from '../call/work'
import { type CancelTimer, type Clock, systemClock } from '../clock'
import { BulkheadFullError, LeaseLostError, OptionError, withoutStack } from '../errors'
import { isClock, merge, OptionReader } from '../options'
import { Layer, type Next } from '../policy'
import { type Order, Queue, type Waiter } from '../queue'
import { storeWith } from '../store/parts'
import { RENEWALS, type SharedSlot, SharedSlots } from './shared-slots'

/** What a priority may be made of. */
export interface CallInfo {
  readonly key: string | undefined
  readonly metadata: unknown
}

export interface BulkheadOptions {
  readonly name: string
  /** Calls that may be on their way at the same time: of this instance, or of the fleet where it is `shared`. */
  readonly limit: number
  /**
   * Takes its slots from the store, so that the fleet has `limit` of them together: each call waits for
   * the store's answer. While the store is away each instance has `limit` by itself.
   *
   * @default false
   */
  readonly shared?: boolean | undefined
  /** With `shared`. @default a memory store of its own */
  readonly store?: Store | undefined
  /**
   * With `shared`: how long the slot of an instance that died stays taken, in ms; at least four times
   * `storeTimeoutMs`, for it to be renewed in time.
   *
   * @default 10_000
   */
  readonly leaseMs?: number | undefined
  /** With `shared`: how long a call may wait for the store's answer, in ms. @default 250 */
  readonly storeTimeoutMs?: number | undefined
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
  /** From 0 to below 1. @default Math.random */
  readonly random?: (() => number) | undefined
}

export interface BulkheadEvents {
  /** A call was refused: no slot and no place in the queue, or the wait was over. */
  reject: { readonly reason: 'full' | 'wait'; readonly retryAfterMs: number | undefined }
  /** `shared`: a slot was lost while it was held, and the signal of its call has aborted. */
  lost: { readonly fence: string }
  /** `shared`: the store does not answer; once per outage. */
  storeDown: { readonly error: unknown; readonly since: number }
  /** `shared`: the store answers again. */
  storeUp: { readonly since: number }
}

export interface BulkheadStats {
  /** Functions of this instance that have not settled, given up by their callers or not. */
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
  shared: true,
  store: true,
  leaseMs: true,
  storeTimeoutMs: true,
  queue: true,
  maxWaitMs: true,
  order: true,
  priority: true,
  clock: true,
  random: true,
}
const FIXED = ['name', 'shared', 'store', 'leaseMs', 'storeTimeoutMs', 'clock', 'random'] as const
const EVENTS = { reject: true, lost: true, storeDown: true, storeUp: true } as const

/** The first of those who wait for a slot of the fleet asks for one so often, in ms, if no lease runs out sooner. */
const ASK_EVERY_MS = 100

/** How much the latest interval weighs in the drain rate. */
const WEIGHT = 0.2

/** A call that waits for a slot, and is given one: of the fleet's, or of this instance's own. */
interface Seeker extends Waiter {
  readonly start: (slot: SharedSlot | undefined) => void
}

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
  readonly #queue = new Queue<Seeker>()
  readonly #shared: SharedSlots | undefined
  readonly #random: () => number
  #options: BulkheadOptions
  #settings: Settings
  #inUse = 0
  #rejected = 0
  /** When a slot was last given to one who waited, and how long it takes from one to the next. */
  #drainedAt: number | undefined
  #drainMs: number | undefined
  /** Goes up when a slot may be free here: an answer to a question from before is out of date. */
  #openings = 0
  /** Whether a slot of the fleet is being asked for, for those who wait. */
  #isAsking = false
  #cancelAsking: CancelTimer | undefined

  /** Use `bulkhead(options)`. */
  constructor(options: BulkheadOptions) {
    super()
    const read = new OptionReader('bulkhead', options, KNOWN)
    this.name = read.text('name')
    this.clock = read.read<Clock, Clock>('clock', systemClock, 'a Clock', isClock)
    this.#random = read.function<() => number, () => number>('random', Math.random)
    this.#options = options
    this.#settings = settingsOf(read)
    this.#shared = this.#sharedSlotsOf(read)
  }

  protected get eventNames(): typeof EVENTS {
    return EVENTS
  }

  run<T>(next: Next<T>, scope: Scope): Promise<T> {
    if (scope.aborted) return Promise.reject(scope.reason)
    if (this.#shared !== undefined && this.#queue.size === 0)
      return this.#runShared(this.#shared, next, scope)
    if (this.#inUse >= this.#settings.limit || this.#queue.size > 0) return this.#wait(next, scope)
    this.#inUse++
    return this.#hold(next, scope, undefined)
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
  reconfigure(options: Partial<Omit<BulkheadOptions, (typeof FIXED)[number]>>): void {
    const merged = merge('bulkhead', this.#options, options, FIXED)
    this.#settings = settingsOf(new OptionReader('bulkhead', merged, KNOWN))
    this.#options = merged
    this.#drain()
  }

  async #runShared<T>(shared: SharedSlots, next: Next<T>, scope: Scope): Promise<T> {
    const openings = this.#openings
    const taken = await shared.take(this.#settings.limit)
    const slot = taken.kind === 'slot' ? taken.slot : undefined
    if (scope.aborted) {
      slot?.release()
      throw scope.reason
    }
    const isOwn = taken.kind === 'away' && this.#inUse < this.#settings.limit
    if (slot === undefined && !isOwn) {
      const wait = this.#wait(next, scope, taken.kind === 'full' ? taken.retryAfterMs : undefined)
      if (openings !== this.#openings) void this.#ask(shared)
      return await wait
    }
    this.#inUse++
    return await this.#hold(next, scope, slot)
  }

  /** Runs it with a slot, which is free again when all that it began has settled: a time limit within ends a wait, and no work. */
  async #hold<T>(next: Next<T>, scope: Scope, slot: SharedSlot | undefined): Promise<T> {
    const part = slot === undefined ? scope : this.#within(scope, slot)
    const outer = scope.work
    const work = new Work(outer)
    part.work = work
    try {
      return await next(part)
    } catch (error) {
      // An abort is told in many forms, most of which count against the dependency.
      throw part.reason instanceof LeaseLostError ? part.reason : error
    } finally {
      part.work = outer
      work.whenIdle(() => this.#release(slot))
    }
  }

  /** The part of a call that holds a slot of the fleet, and is told to stop when it has lost it. */
  #within(scope: Scope, slot: SharedSlot): Scope {
    const part = scope.part()
    part.fence = slot.fence
    slot.onLost = () => {
      part.abort(new LeaseLostError(this.name))
      this.events.emit('lost', { fence: slot.fence })
    }
    return part
  }

  #release(slot: SharedSlot | undefined): void {
    this.#inUse--
    slot?.release()
    this.#drain()
  }

  #wait<T>(next: Next<T>, scope: Scope, retryAfterMs?: number): Promise<T> {
    const { queue, maxWaitMs, priority } = this.#settings
    if (this.#queue.size >= queue) return Promise.reject(this.#refuse('full', retryAfterMs))
    const now = this.clock.now()
    return new Promise<T>((resolve, reject) => {
      const deadlines = deadlinesOf(this.clock)
      const waiter: Seeker = {
        priority: priority === undefined ? 0 : this.#priorityOf(priority, scope),
        since: now,
        place: -1,
        start: (slot) => {
          deadlines.clear(deadline)
          this.#hold(next, scope, slot).then(resolve, reject)
        },
      }
      const deadline = deadlines.set(now, maxWaitMs, () => {
        if (this.#leave(waiter)) reject(this.#refuse('wait'))
      })
      this.#queue.add(waiter)
      if (this.#shared !== undefined && this.#queue.size === 1)
        this.#askIn(this.#shared, retryAfterMs ?? ASK_EVERY_MS)
      // Who leaves gives up his place at once, and takes none of the slots.
      scope.onAbort((reason) => {
        if (!this.#leave(waiter)) return
        deadlines.clear(deadline)
        reject(reason)
      })
    })
  }

  /** @returns whether it was still waiting */
  #leave(waiter: Seeker): boolean {
    const wasWaiting = this.#queue.remove(waiter)
    this.#restIfEmpty()
    return wasWaiting
  }

  #restIfEmpty(): void {
    if (this.#queue.size === 0) this.#cancelAsking?.()
  }

  #drain(): void {
    this.#openings++
    if (this.#queue.size === 0) return
    if (this.#shared !== undefined) {
      void this.#ask(this.#shared)
      return
    }
    while (this.#inUse < this.#settings.limit && this.#queue.size > 0) this.#startNext(undefined)
  }

  #startNext(slot: SharedSlot | undefined): void {
    const waiter = this.#queue.take(this.#isOverloaded())
    if (waiter === undefined) {
      slot?.release()
      return
    }
    this.#restIfEmpty()
    this.#measureDrain()
    this.#inUse++
    waiter.start(slot)
  }

  /** For all who wait here one asks, so that a fleet whose slots are taken is not asked more the more wait. */
  async #ask(shared: SharedSlots): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    while (this.#queue.size > 0) {
      const openings = this.#openings
      const taken = await shared.take(this.#settings.limit)
      const isFull = taken.kind === 'full' || (taken.kind === 'away' && this.#inUse >= this.#settings.limit)
      if (!isFull) {
        this.#startNext(taken.kind === 'slot' ? taken.slot : undefined)
      } else if (openings === this.#openings) {
        if (this.#queue.size > 0)
          this.#askIn(shared, taken.kind === 'full' ? taken.retryAfterMs : ASK_EVERY_MS)
        break
      }
    }
    this.#isAsking = false
  }

  /** Not all at one moment: instances that were refused together ask again apart. */
  #askIn(shared: SharedSlots, retryAfterMs: number): void {
    this.#cancelAsking?.()
    const ms = Math.min(retryAfterMs, ASK_EVERY_MS) * (1 + this.#random()) * 0.5
    this.#cancelAsking = this.clock.setTimeout(() => void this.#ask(shared), Math.max(1, ms), true)
  }

  #sharedSlotsOf(read: OptionReader<BulkheadOptions>): SharedSlots | undefined {
    const leaseMs = read.milliseconds('leaseMs', 10_000)
    const storeTimeoutMs = read.milliseconds('storeTimeoutMs', 250)
    const store = storeWith(read, 'leases')
    if (!read.boolean('shared', false)) {
      for (const name of ['store', 'leaseMs', 'storeTimeoutMs'] as const) {
        if (read.has(name)) read.refuse(name, 'left out where it is not shared')
      }
      return undefined
    }
    const least = RENEWALS * storeTimeoutMs
    if (leaseMs < least) {
      const takes = `at least ${RENEWALS} times storeTimeoutMs, ${least}, to be renewed in time`
      throw new OptionError('leaseMs', `bulkhead: leaseMs must be ${takes}, got ${leaseMs}`)
    }
    const settings = { name: this.name, leaseMs, storeTimeoutMs, clock: this.clock, random: this.#random }
    return new SharedSlots(store ?? memoryStore({ clock: this.clock }), settings, {
      onStoreDown: (error) => this.events.emit('storeDown', { error, since: this.clock.now() }),
      onStoreUp: () => this.events.emit('storeUp', { since: this.clock.now() }),
    })
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

  /** @param leaseMs until the next lease runs out, if nobody gives a slot back before */
  #refuse(reason: 'full' | 'wait', leaseMs?: number): BulkheadFullError {
    this.#rejected++
    // As long as those who wait need, at the rate of late.
    const ms = this.#drainMs
    const retryAfterMs = ms === undefined ? leaseMs : Math.ceil(Math.max(1, ms * (this.#queue.size + 1)))
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
