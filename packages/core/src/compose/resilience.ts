import type { Store } from '@tidegate/contract'
import { type Bulkhead, type BulkheadOptions, bulkhead } from '../bulkhead/bulkhead'
import type { Scope } from '../call/scope'
import type { CircuitBreaker } from '../circuit/breaker'
import { circuitBreaker } from '../circuit/circuit-breaker'
import type { CircuitBreakerOptions } from '../circuit/options'
import type { Clock } from '../clock'
import { OptionError } from '../errors'
import { type Fallback, type FallbackOptions, fallback } from '../fallback/fallback'
import { isClock, isPlain, OptionReader } from '../options'
import type { Layer, Next } from '../policy'
import { type RateLimit, type RateLimitOptions, rateLimit } from '../rate-limit/rate-limit'
import { type Retry, type RetryOptions, retry } from '../retry/retry'
import { type StaleCache, type StaleCacheOptions, staleCache } from '../stale-cache/stale-cache'
import { type Timeout, type TimeoutOptions, timeout } from '../timeout/timeout'
import { Pipeline } from './pipeline'

/** The options of a part: it has the name, the store and the clock of the whole. */
type Part<Options> = Omit<Options, 'name' | 'clock' | 'store'>

export interface ResilienceOptions {
  readonly name: string
  /**
   * Where the parts that a fleet shares live: the circuit, the rate limit, a bulkhead that is `shared`,
   * and last good answers where the store has a cache.
   *
   * @default a memory store of each one's own
   */
  readonly store?: Store | undefined
  readonly fallback?: Part<FallbackOptions> | undefined
  readonly staleCache?: Part<StaleCacheOptions> | undefined
  readonly retry?: Part<RetryOptions> | undefined
  readonly rateLimit?: Part<RateLimitOptions> | undefined
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
export interface ResilienceReconfiguration {
  readonly fallback?: Parameters<Fallback['reconfigure']>[0]
  readonly retry?: Parameters<Retry['reconfigure']>[0]
  readonly rateLimit?: Parameters<RateLimit['reconfigure']>[0]
  readonly bulkhead?: Parameters<Bulkhead['reconfigure']>[0]
  readonly circuit?: Parameters<CircuitBreaker['reconfigure']>[0]
  readonly timeout?: Parameters<Timeout['reconfigure']>[0]
  readonly enabled?: boolean
}

const KNOWN: Readonly<Record<keyof ResilienceOptions, true>> = {
  name: true,
  store: true,
  fallback: true,
  staleCache: true,
  retry: true,
  rateLimit: true,
  bulkhead: true,
  circuit: true,
  timeout: true,
  enabled: true,
  clock: true,
}

/** What has options that change while it lives. */
const CHANGEABLE: Readonly<Record<keyof ResilienceReconfiguration, true>> = {
  fallback: true,
  retry: true,
  rateLimit: true,
  bulkhead: true,
  circuit: true,
  timeout: true,
  enabled: true,
}

/** From the outermost to the innermost: what each order means is in the package's README. */
const ORDER = ['fallback', 'staleCache', 'retry', 'rateLimit', 'bulkhead', 'circuit', 'timeout'] as const

/** The policies that a resilience is made of, those that it has. */
export interface Parts {
  readonly fallback?: Fallback
  readonly staleCache?: StaleCache
  readonly retry?: Retry
  readonly rateLimit?: RateLimit
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
    const layers = ORDER.map((part) => parts[part] as Layer<object> | undefined)
    super(
      name,
      layers.filter((layer) => layer !== undefined),
      clock,
    )
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
   * @throws OptionError naming the option, what it takes and what it got; then the parts before it, in their order, are changed
   */
  reconfigure(options: ResilienceReconfiguration): void {
    const read = new OptionReader<ResilienceReconfiguration>('resilience', options, CHANGEABLE)
    const isEnabled = read.boolean('enabled', this.#isEnabled)
    const given = ORDER.filter((name) => (options as Readonly<Record<string, unknown>>)[name] !== undefined)
    for (const name of given) {
      if (this.parts[name] !== undefined) continue
      throw new OptionError(name, `resilience: "${this.name}" has no ${name}, and gets none while it lives`)
    }
    for (const name of given) {
      const part = this.parts[name] as { reconfigure(options: unknown): void }
      part.reconfigure((options as Readonly<Record<string, unknown>>)[name])
    }
    this.#isEnabled = isEnabled
  }
}

/**
 * The usual policies around one dependency, in the order in which they make sense: fallback( staleCache(
 * retry( rateLimit( bulkhead( circuit( timeout( fn ))))))). Each is there if its options are.
 *
 * @throws OptionError naming the option, what it takes and what it got
 */
export function resilience(options: ResilienceOptions): Resilience {
  const read = new OptionReader('resilience', options, KNOWN)
  const name = read.text('name')
  const clock = read.read<Clock, undefined>('clock', undefined, 'a Clock', isClock)
  const store = read.read<Store, undefined>('store', undefined, 'a store', isStore)
  const isEnabled = read.boolean('enabled', true)
  for (const part of ORDER) checkPart(read, options, part)
  const timed = { name, ...(clock !== undefined && { clock }) }
  const stored = { ...timed, ...(store !== undefined && { store }) }
  const parts: Parts = {
    ...(options.fallback && { fallback: fallback({ ...options.fallback, name }) }),
    // Answers are shared where there is a place for them; nobody who has a store need say so.
    ...(options.staleCache && {
      staleCache: staleCache({ ...options.staleCache, ...(store?.cache === undefined ? timed : stored) }),
    }),
    ...(options.retry && { retry: retry({ ...options.retry, ...timed }) }),
    ...(options.rateLimit && { rateLimit: rateLimit({ ...options.rateLimit, ...stored }) }),
    ...(options.bulkhead && {
      bulkhead: bulkhead({ ...options.bulkhead, ...(options.bulkhead.shared === true ? stored : timed) }),
    }),
    ...(options.circuit && { circuit: circuitBreaker({ ...options.circuit, ...stored }) }),
    ...(options.timeout && { timeout: timeout({ ...options.timeout, ...timed }) }),
  }
  if (Object.keys(parts).length === 0) {
    throw new OptionError('options', `resilience: give options of one of ${ORDER.join(', ')} at least`)
  }
  return new Resilience(name, parts, clock, isEnabled)
}

/** @throws OptionError where it is no options, or says what the whole says */
function checkPart(
  read: OptionReader<ResilienceOptions>,
  options: ResilienceOptions,
  part: (typeof ORDER)[number],
): void {
  read.read(part, undefined, 'options of that policy', isPlain)
  for (const name of ['name', 'clock', 'store']) {
    if (!Object.hasOwn(options[part] ?? {}, name)) continue
    throw new OptionError(part, `resilience: ${part} has no ${name} of its own; give it to resilience itself`)
  }
}

function isStore(value: unknown): boolean {
  const { circuits } = (value ?? {}) as Partial<Store>
  return typeof circuits?.readState === 'function'
}

/** Without a policy; what is thrown at once is a rejection nevertheless. */
async function runBare<T>(next: Next<T>, scope: Scope): Promise<T> {
  return await next(scope)
}
