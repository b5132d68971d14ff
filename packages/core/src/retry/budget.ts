import { type Clock, systemClock } from '../clock'
import { isClock, isPlain, OptionReader } from '../options'

export interface RetryBudgetOptions {
  /** Retries for each call, above 0 and at most 1. @default 0.2 */
  readonly ratio?: number | undefined
  /** Retries in a window that are allowed whatever the number of calls. @default 10 */
  readonly floor?: number | undefined
  /** @default 10_000 */
  readonly windowMs?: number | undefined
  /** @default the process' monotonic clock */
  readonly clock?: Clock | undefined
}

const KNOWN = { ratio: true, floor: true, windowMs: true, clock: true } as const

const SLICES = 10

/** Reading the clock is most of what counting a call costs: so many are counted as of the last of them. */
const BUNCH = 16

/**
 * How many further attempts may be made: a share of the calls of the window, and a
 * floor. Without one, retries multiply the load of a dependency by as many attempts
 * as there are, just when it can bear least. One may be shared by several policies.
 *
 * The rule is that of Finagle's RetryBudget and of gRPC's retry throttling.
 */
export class RetryBudget {
  readonly #ratio: number
  readonly #floor: number
  readonly #sliceMs: number
  readonly #clock: Clock
  /** Number, calls and retries of each slice of the window, by its number modulo their count. */
  readonly #numbers = new Float64Array(SLICES).fill(-1)
  readonly #calls = new Float64Array(SLICES)
  readonly #retries = new Float64Array(SLICES)
  /** Calls that have no slice yet. */
  #untimed = 0

  /** Use `retryBudget(options)`. */
  constructor(options: RetryBudgetOptions) {
    const read = new OptionReader('retryBudget', options, KNOWN)
    this.#ratio = read.rate('ratio', 0.2)
    this.#floor = read.count('floor', 10, 0)
    this.#sliceMs = read.milliseconds('windowMs', 10_000, SLICES) / SLICES
    this.#clock = read.read<Clock, Clock>('clock', systemClock, 'a Clock', isClock)
  }

  /** That of a policy, by its option `budget`: undefined where it is to have none. */
  static of(read: OptionReader<{ budget?: unknown }>, clock: Clock): RetryBudget | undefined {
    const takes = 'options of a budget, a retryBudget, or false'
    const isBudget = (value: unknown) => value === false || value instanceof RetryBudget || isPlain(value)
    const budget = read.read<RetryBudgetOptions | RetryBudget | false, RetryBudgetOptions>(
      'budget',
      {},
      takes,
      isBudget,
    )
    if (budget === false) return undefined
    return budget instanceof RetryBudget ? budget : new RetryBudget({ clock, ...budget })
  }

  /** Counts a call, its first attempt. */
  addCall(): void {
    if (++this.#untimed === BUNCH) this.#timeCalls()
  }

  /** Takes leave for one more attempt. @returns whether it is given */
  take(): boolean {
    if (this.left < 1) return false
    const at = this.#slice()
    this.#retries[at] = (this.#retries[at] ?? 0) + 1
    return true
  }

  /** Further attempts that could be made now. */
  get left(): number {
    this.#timeCalls()
    const first = this.#number() - SLICES + 1
    let [calls, retries] = [0, 0]
    for (let at = 0; at < SLICES; at++) {
      if ((this.#numbers[at] ?? -1) < first) continue
      calls += this.#calls[at] ?? 0
      retries += this.#retries[at] ?? 0
    }
    return Math.max(0, Math.floor(this.#floor + this.#ratio * calls - retries))
  }

  #timeCalls(): void {
    if (this.#untimed === 0) return
    const at = this.#slice()
    this.#calls[at] = (this.#calls[at] ?? 0) + this.#untimed
    this.#untimed = 0
  }

  #number(): number {
    return Math.floor(this.#clock.now() / this.#sliceMs)
  }

  /** The place of the present slice, emptied where it held one that is over. */
  #slice(): number {
    const number = this.#number()
    const at = number % SLICES
    if (this.#numbers[at] !== number) {
      this.#numbers[at] = number
      this.#calls[at] = 0
      this.#retries[at] = 0
    }
    return at
  }
}

/**
 * A budget to share between policies.
 *
 * @throws OptionError naming the option, what it takes and what it got
 */
export function retryBudget(options: RetryBudgetOptions = {}): RetryBudget {
  return new RetryBudget(options)
}
