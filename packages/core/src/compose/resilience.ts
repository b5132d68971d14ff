import type { Store } from '@tidegate/contract'
import { type Bulkhead, type BulkheadOptions, bulkhead } from '../bulkhead/bulkhead'
import type { Scope } from '../call/scope'
import type { CircuitBreaker } from '../circuit/breaker'
import { circuitBreaker } from '../circuit/circuit-breaker'
import type { CircuitBreakerOptions } from '../circuit/options'
import type { Clock } from '../clock'
import { OptionError } from '../errors'
import { type Fallback, type FallbackOptions, fallback } from '../fallback/fallback'
import { isClock, OptionReader } from '../options'
import type { Layer, Next } from '../policy'
import { type Retry, type RetryOptions, retry } from '../retry/retry'
import { type Timeout, type TimeoutOptions, timeout } from '../timeout/timeout'
import { Pipeline } from './pipeline'

/** The options of a part: it has the name, the store and the clock of the whole. */
type Part<Options> = Omit<Options, 'name' | 'clock' | 'store'>

export interface ResilienceOptions {
  readonly name: string
  /** Where the parts that a fleet shares live. @default a memory store of each one's own */
  readonly store?: Store | undefined
  readonly fallback?: Part<FallbackOptions> | undefined
  readonly retry?: Part<RetryOptions> | undefined
  readonly bulkhead?: Part<BulkheadOptions> | undefined
  readonly circuit?: Part<CircuitBreakerOptions> | undefined
  /** Of one attempt. For the whole call hand `deadlineMs` to `execute`. */
  readonly timeout?: Part<TimeoutOptions> | undefined
  /** Without any of its parts, while false: a switch to see what they do. @default true */
  readonly enabled?: boolean | undefined
  /** @default the process' monotonic clock */
  readonly clock?: Clock | undefined
}

/** What `reconfigure` takes: options of the parts that there are. */
export type ResilienceReconfiguration = Omit<ResilienceOptions, 'name' | 'store' | 'clock'>

const KNOWN: Readonly<Record<keyof ResilienceOptions, true>> = {
  name: true,
  store: true,
  fallback: true,
  retry: true,
  bulkhead: true,
  circuit: true,
  timeout: true,
  enabled: true,
  clock: true,
}

/** From the outermost to the innermost: what each order means is in the package's README. */
const ORDER = ['fallback', 'retry', 'bulkhead', 'circuit', 'timeout'] as const

type PartName = (typeof ORDER)[number]

/** The policies that a resilience is made of, those that it has. */
export interface Parts {
  readonly fallback?: Fallback
  readonly retry?: Retry
  readonly bulkhead?: Bulkhead
  readonly circuit?: CircuitBreaker
  readonly timeout?: Timeout
}

/** A pipeline whose order is set, and whose parts are known by what they are. */
export class Resilience extends Pipeline {
  readonly parts: Parts
  #isEnabled: boolean

  /** Use `resilience(options)`. */
  constructor(name: string, parts: Parts, clock: Clock | undefined, isEnabled: boolean) {
    const layers = ORDER.map((part) => parts[part] as Layer<object> | undefined).filter(
      (layer) => layer !== undefined,
    )
    super(name, layers, clock)
    this.parts = parts
    this.#isEnabled = isEnabled
  }

  /** Whether calls go through its parts. */
  get enabled(): boolean {
    return this.#isEnabled
  }

  override run<T>(next: Next<T>, scope: Scope): Promise<T> {
    return this.#isEnabled ? super.run(next, scope) : runBare(next, scope)
  }

  /**
   * Changes options of its parts while it lives. No part loses its state, and no circuit
   * its period; a part that it does not have cannot be added.
   *
   * @throws OptionError naming the option, what it takes and what it got; then no part after that one is changed
   */
  reconfigure(options: ResilienceReconfiguration): void {
    const { enabled, ...parts } = options
    for (const name of Object.keys(parts) as PartName[]) {
      if (!(ORDER as readonly string[]).includes(name)) {
        throw new OptionError(
          name,
          `resilience: ${name} cannot be changed; there are ${ORDER.join(', ')}, enabled`,
        )
      }
      if (this.parts[name] === undefined) {
        throw new OptionError(name, `resilience: "${this.name}" has no ${name}, and gets none while it lives`)
      }
    }
    for (const name of ORDER) {
      const change = parts[name]
      if (change !== undefined)
        (this.parts[name] as { reconfigure(options: object): void }).reconfigure(change)
    }
    if (enabled !== undefined) {
      this.#isEnabled = new OptionReader('resilience', { enabled }, { enabled: true }).boolean(
        'enabled',
        true,
      )
    }
  }
}

/**
 * The usual policies around one dependency, in the order in which they make sense:
 * fallback( retry( bulkhead( circuit( timeout( fn ))))). Each is there if its options are.
 *
 * @throws OptionError naming the option, what it takes and what it got
 */
export function resilience(options: ResilienceOptions): Resilience {
  const read = new OptionReader('resilience', options, KNOWN)
  const name = read.text('name')
  const clock = read.read<Clock, undefined>('clock', undefined, 'a Clock', isClock)
  const isEnabled = read.boolean('enabled', true)
  const { store } = options
  const own = { name, ...(clock !== undefined && { clock }) }
  for (const part of ORDER) read.read(part, undefined, 'options of that policy', isOptions)
  const parts: Parts = {
    ...(options.fallback !== undefined && { fallback: fallback({ ...options.fallback, name }) }),
    ...(options.retry !== undefined && { retry: retry({ ...options.retry, ...own }) }),
    ...(options.bulkhead !== undefined && { bulkhead: bulkhead({ ...options.bulkhead, ...own }) }),
    ...(options.circuit !== undefined && {
      circuit: circuitBreaker({ ...options.circuit, ...own, ...(store !== undefined && { store }) }),
    }),
    ...(options.timeout !== undefined && { timeout: timeout({ ...options.timeout, ...own }) }),
  }
  if (Object.keys(parts).length === 0) {
    throw new OptionError('options', `resilience: give options of one of ${ORDER.join(', ')} at least`)
  }
  return new Resilience(name, parts, clock, isEnabled)
}

/** Without a policy; what is thrown at once is a rejection nevertheless. */
async function runBare<T>(next: Next<T>, scope: Scope): Promise<T> {
  return await next(scope)
}

function isOptions(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
