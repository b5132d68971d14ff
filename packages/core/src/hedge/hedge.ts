import { type Deadline, deadlinesOf } from '../call/deadlines'
import type { Scope } from '../call/scope'
import { type Clock, systemClock } from '../clock'
import { addLatency, halveLatencies, newLatencies, quantiles } from '../latencies'
import { isClock, OptionReader } from '../options'
import { Layer, type Next } from '../policy'
import { RetryBudget, type RetryBudgetOptions } from '../retry/budget'

export interface HedgeOptions {
  readonly name: string
  /** How long an attempt is waited for before another is made beside it, in ms. */
  readonly delayMs?: number | undefined
  /**
   * That delay as a quantile of how long attempts take, instead; until some have been
   * seen there is no second attempt. After Dean and Barroso, "The Tail at Scale" (2013).
   *
   * @default 0.95 where `delayMs` is left out
   */
  readonly quantile?: number | undefined
  /** Attempts at the same time, the first one included. @default 2 */
  readonly maxAttempts?: number | undefined
  /**
   * How many further attempts there may be for all calls together, or one to share with a
   * retry; `false` for no bound.
   *
   * @default { ratio: 0.2, floor: 10, windowMs: 10_000 }
   */
  readonly budget?: RetryBudgetOptions | RetryBudget | false | undefined
  /** @default the process' monotonic clock */
  readonly clock?: Clock | undefined
}

export interface HedgeEvents {
  /** Another attempt is made beside those on their way. */
  hedge: { readonly attempt: number; readonly delayMs: number }
  /** An attempt answered, and others were on their way. */
  win: { readonly attempt: number }
}

export interface HedgeStats {
  readonly calls: number
  readonly hedges: number
  /** Calls that a further attempt answered. */
  readonly wins: number
}

const KNOWN: Readonly<Record<keyof HedgeOptions, true>> = {
  name: true,
  delayMs: true,
  quantile: true,
  maxAttempts: true,
  budget: true,
  clock: true,
}
const EVENTS = { hedge: true, win: true } as const

/** Fewer durations say little about the slowest of them. */
const MINIMUM_SAMPLES = 50
/** After so many, those that came before count half. */
const HALVED_AFTER = 2_048

/**
 * Makes a second attempt beside one that takes long: the first answer wins, and the
 * others' signals abort. For calls that may be made twice.
 */
export class Hedge extends Layer<HedgeEvents> {
  readonly kind = 'hedge'
  readonly name: string
  readonly clock: Clock
  readonly #delayMs: number | undefined
  readonly #quantile: number
  readonly #maxAttempts: number
  readonly #budget: RetryBudget | undefined
  readonly #latencies = newLatencies()
  #samples = 0
  #calls = 0
  #hedges = 0
  #wins = 0

  /** Use `hedge(options)`. */
  constructor(options: HedgeOptions) {
    super()
    const read = new OptionReader('hedge', options, KNOWN)
    this.name = read.text('name')
    this.clock = read.read<Clock, Clock>('clock', systemClock, 'a Clock', isClock)
    read.exclude('delayMs', 'quantile', 'the one is measured, and the other is given')
    this.#delayMs = read.milliseconds('delayMs', undefined, 0)
    this.#quantile = read.rate('quantile', 0.95)
    this.#maxAttempts = read.count('maxAttempts', 2, 2)
    this.#budget = RetryBudget.of(read, this.clock)
  }

  protected get eventNames(): typeof EVENTS {
    return EVENTS
  }

  run<T>(next: Next<T>, scope: Scope): Promise<T> {
    this.#calls++
    this.#budget?.addCall()
    return new Promise((resolve, reject) => new Race(this, next, scope, resolve, reject).begin())
  }

  stats(): HedgeStats {
    return { calls: this.#calls, hedges: this.#hedges, wins: this.#wins }
  }

  /** How long to wait before there is an attempt more, or undefined where there will be none. */
  delayBefore(attempt: number): number | undefined {
    if (attempt > this.#maxAttempts) return undefined
    if (this.#delayMs !== undefined) return this.#delayMs
    if (this.#samples < MINIMUM_SAMPLES) return undefined
    const [ms] = quantiles(this.#latencies, [this.#quantile])
    return ms
  }

  /** @returns whether there may be one more */
  take(attempt: number, delayMs: number): boolean {
    if (this.#budget !== undefined && !this.#budget.take()) return false
    this.#hedges++
    this.events.emit('hedge', { attempt, delayMs })
    return true
  }

  answered(attempt: number, durationMs: number, others: number): void {
    this.tookLonger(durationMs)
    if (attempt > 1) this.#wins++
    if (others > 0) this.events.emit('win', { attempt })
  }

  /**
   * An attempt took so long, or longer: one that another was quicker than counts with the time it had.
   * Left out, the slow ones would be missing among those that tell slow from quick, and ever more would be slow.
   */
  tookLonger(durationMs: number): void {
    if (this.#delayMs !== undefined) return
    addLatency(this.#latencies, durationMs)
    if (++this.#samples % HALVED_AFTER === 0) halveLatencies(this.#latencies)
  }
}

/** The attempts of one call. */
class Race<T> {
  readonly #hedge: Hedge
  readonly #next: Next<T>
  readonly #scope: Scope
  readonly #resolve: (value: T) => void
  readonly #reject: (error: unknown) => void
  /** And when each began. */
  readonly #running = new Map<Scope, number>()
  #begun = 0
  #isOver = false
  #deadline: Deadline | undefined

  constructor(
    hedge: Hedge,
    next: Next<T>,
    scope: Scope,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ) {
    this.#hedge = hedge
    this.#next = next
    this.#scope = scope
    this.#resolve = resolve
    this.#reject = reject
  }

  begin(): void {
    this.#scope.onAbort((reason) => this.#end(() => this.#reject(reason)))
    if (!this.#isOver) this.#attempt()
  }

  #attempt(): void {
    const attempt = ++this.#begun
    const part = attempt === 1 ? this.#scope.part() : this.#scope.nextPart()
    const start = this.#hedge.clock.now()
    this.#running.set(part, start)
    this.#await()
    const run = async (): Promise<T> => await this.#next(part)
    run().then(
      (value) => {
        this.#running.delete(part)
        if (this.#isOver) return
        const now = this.#hedge.clock.now()
        this.#hedge.answered(attempt, now - start, this.#running.size)
        for (const since of this.#running.values()) this.#hedge.tookLonger(now - since)
        this.#end(() => this.#resolve(value))
      },
      (error: unknown) => {
        this.#running.delete(part)
        // While others are on their way one of them may answer; a failure is for a retry to answer with another attempt.
        if (!this.#isOver && this.#running.size === 0) this.#end(() => this.#reject(error))
      },
    )
  }

  /** Waits for the moment of the next attempt. */
  #await(): void {
    const attempt = this.#begun + 1
    const delayMs = this.#hedge.delayBefore(attempt)
    if (delayMs === undefined || delayMs >= this.#scope.remainingMs) return
    const { clock } = this.#hedge
    this.#deadline = deadlinesOf(clock).set(clock.now(), delayMs, () => {
      if (!this.#isOver && this.#hedge.take(attempt, delayMs)) this.#attempt()
    })
  }

  /** The others are told to stop, and what they come to reaches nobody. */
  #end(settle: () => void): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#deadline !== undefined) deadlinesOf(this.#hedge.clock).clear(this.#deadline)
    settle()
    // Where the whole call is told to stop, its parts are told why.
    if (this.#scope.aborted || this.#running.size === 0) return
    const reason = new DOMException('another attempt was quicker', 'AbortError')
    for (const part of this.#running.keys()) part.abort(reason)
    this.#running.clear()
  }
}

/**
 * Makes a second attempt beside one that takes long.
 *
 * @throws OptionError naming the option, what it takes and what it got
 */
export function hedge(options: HedgeOptions): Hedge {
  return new Hedge(options)
}
