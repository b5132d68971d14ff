import type { CircuitWindow, Store } from '@tidegate/contract'
import { memoryStore } from '@tidegate/store-memory'
import { type Clock, systemClock } from '../clock'
import { OptionError } from '../errors'
import { isClock, isWhole, OptionReader } from '../options'
import { reliable } from './chance'
import type { CooldownRule, TripRule } from './machine'
import { isFailureByDefault, isFailureResultByDefault } from './outcome'

export type WhenStoreDown = 'spread' | 'hold' | 'local'

export interface CircuitBreakerOptions {
  /** Names the circuit. Breakers of one name on one store share it. */
  readonly name: string
  /** Where the circuit lives. @default a memory store of this breaker's own */
  readonly store?: Store | undefined

  /** Share of failures in the window that opens the circuit, above 0 and at most 1. @default 0.5 */
  readonly failureRate?: number | undefined
  /** Calls in the window below which no rate is looked at. @default 10 */
  readonly minimumCalls?: number | undefined
  /** How far the window looks back, in ms. @default 30_000 */
  readonly windowMs?: number | undefined
  /** The window as the last so many calls instead; in one process only. */
  readonly windowCalls?: number | undefined
  /** Failures in a row that open the circuit, instead of a rate over a window. */
  readonly consecutiveFailures?: number | undefined
  /** From how long on a call counts as slow, in ms. A probe that is slow has failed. */
  readonly slowCallMs?: number | undefined
  /** Share of slow calls in the window that opens the circuit, above 0 and at most 1; needs `slowCallMs`. */
  readonly slowCallRate?: number | undefined

  /** How long the circuit stays open before it is probed, in ms. @default 30_000 */
  readonly cooldownMs?: number | undefined
  /** Share of the cooldown that chance may add, 0 to 1. It never shortens it. @default 0.1 */
  readonly cooldownJitter?: number | undefined
  /** Open periods in a row each last `factor` times longer, up to `maxMs`. @default { factor: 2, maxMs: 300_000 } */
  readonly cooldownBackoff?: { readonly factor: number; readonly maxMs: number } | undefined
  /**
   * Probes in a row, each under its own fence, that close the circuit. One that comes to no evidence, because its
   * caller left or a policy within refused, is followed by the next at once; after three in a row of this instance
   * one more opens the circuit again.
   *
   * @default 1
   */
  readonly successThreshold?: number | undefined
  /** How long a probe may take, in ms; then it is aborted, and has failed. @default 10_000 */
  readonly probeTimeoutMs?: number | undefined
  /** After closing, over so many ms a growing share of the calls is let through; 0 for all at once. @default 0 */
  readonly rampUpMs?: number | undefined
  /** Instances whose failures it takes to open the circuit for all; a single sick one opens for itself. @default 1 */
  readonly minReporters?: number | undefined

  /** `'mirror'` decides on what this instance last heard, `'strict'` reads before each call. @default 'mirror' */
  readonly consistency?: 'mirror' | 'strict' | undefined
  /**
   * How often outcomes go to the store and the mirror is refreshed, in ms, while there is traffic; at most a tenth of
   * the window.
   *
   * @default 100, or a tenth of the window if that is less
   */
  readonly syncMs?: number | undefined
  /** The longest that anything waits for the store, in ms. @default 250 */
  readonly storeTimeoutMs?: number | undefined
  /** Who probes while nobody can agree on it: see the package's README. @default 'spread' */
  readonly whenStoreDown?: WhenStoreDown | undefined

  /** Whether an error counts against the dependency. Replaces the default rule. */
  readonly isFailure?: ((error: unknown) => boolean) | undefined
  /** Whether a value that the function resolved to counts against the dependency. Replaces the default rule. */
  readonly isFailureResult?: ((value: unknown) => boolean) | undefined

  /** Whether rejections carry a stack, which is most of what one costs. @default false */
  readonly stackTraces?: boolean | undefined
  /** @default the process' monotonic clock */
  readonly clock?: Clock | undefined
  /** From 0 to below 1. @default Math.random */
  readonly random?: (() => number) | undefined
}

const KNOWN: Readonly<Record<keyof CircuitBreakerOptions, true>> = {
  name: true,
  store: true,
  failureRate: true,
  minimumCalls: true,
  windowMs: true,
  windowCalls: true,
  consecutiveFailures: true,
  slowCallMs: true,
  slowCallRate: true,
  cooldownMs: true,
  cooldownJitter: true,
  cooldownBackoff: true,
  successThreshold: true,
  probeTimeoutMs: true,
  rampUpMs: true,
  minReporters: true,
  consistency: true,
  syncMs: true,
  storeTimeoutMs: true,
  whenStoreDown: true,
  isFailure: true,
  isFailureResult: true,
  stackTraces: true,
  clock: true,
  random: true,
}

/** What a breaker is built with for good: its circuit, and what its time and its chance are taken from. */
type FixedCircuitOption = 'name' | 'store' | 'clock' | 'random'

/** What `reconfigure` takes; what is left out stays as it is. */
export type CircuitReconfiguration = Omit<CircuitBreakerOptions, FixedCircuitOption>

/** The options of a breaker, checked and complete. Breakers of one family share it. */
export interface CircuitSettings {
  /** As they were given. */
  readonly options: CircuitBreakerOptions
  readonly name: string
  readonly store: Store
  readonly window: CircuitWindow
  readonly trip: TripRule
  readonly slowCallMs: number
  readonly cooldown: CooldownRule
  readonly successThreshold: number
  readonly probeTimeoutMs: number
  /** How long a permit is held: the probe's time and a margin, for the abort and the verdict to get through. */
  readonly leaseMs: number
  readonly rampUpMs: number
  readonly minReporters: number
  readonly isStrict: boolean
  readonly syncMs: number
  readonly storeTimeoutMs: number
  readonly whenStoreDown: WhenStoreDown
  readonly isFailure: (error: unknown) => boolean
  readonly isFailureResult: (value: unknown) => boolean
  readonly stackTraces: boolean
  readonly clock: Clock
  readonly random: () => number
}

/**
 * @param maxKeys of the memory store that is made where none is given
 * @throws OptionError naming the option, what it takes and what it got
 */
export function circuitSettings(options: CircuitBreakerOptions, maxKeys = 1): CircuitSettings {
  const read = new OptionReader('circuitBreaker', options, KNOWN)
  const name = read.text('name')
  const window = windowOf(read)
  const clock = read.read<Clock, Clock>('clock', systemClock, 'a Clock', isClock)
  const store = read.read<Store, undefined>('store', undefined, 'a store', isStore)
  const supported = store?.supports.windows
  if (supported !== undefined && !supported.includes(window.kind)) refuseWindow(read, window, supported)
  const cooldownMs = read.milliseconds('cooldownMs', 30_000)
  const probeTimeoutMs = read.milliseconds('probeTimeoutMs', 10_000)
  return {
    options,
    name,
    store: store ?? memoryStore({ maxKeys, clock }),
    window,
    trip: tripOf(read),
    slowCallMs: read.milliseconds('slowCallMs', Number.POSITIVE_INFINITY),
    cooldown: {
      cooldownMs,
      jitter: read.read<number, number>('cooldownJitter', 0.1, 'a number from 0 to 1', isShare),
      backoff: backoffOf(read, cooldownMs),
    },
    successThreshold: read.count('successThreshold', 1),
    probeTimeoutMs,
    leaseMs: probeTimeoutMs + Math.ceil(Math.max(50, probeTimeoutMs / 10)),
    rampUpMs: read.milliseconds('rampUpMs', 0, 0),
    minReporters: reportersOf(read),
    isStrict: read.oneOf('consistency', ['mirror', 'strict'], 'mirror') === 'strict',
    // The last calls are the last calls: sent in bundles they would lose their order.
    syncMs: window.kind === 'count' ? 0 : syncOf(read, window),
    storeTimeoutMs: read.milliseconds('storeTimeoutMs', 250),
    whenStoreDown: read.oneOf('whenStoreDown', ['spread', 'hold', 'local'], 'spread'),
    isFailure: read.function('isFailure', isFailureByDefault),
    isFailureResult: read.function('isFailureResult', isFailureResultByDefault),
    stackTraces: read.boolean('stackTraces', false),
    clock,
    random: read.has('random') ? reliable(read.function('random', Math.random)) : Math.random,
  }
}

/**
 * Other settings for breakers that live: they hold from the next call on. Nobody keeps
 * a copy, so nothing else has to be told.
 *
 * @throws OptionError for an option that is fixed, or does not fit with the others; then nothing is changed
 */
export function reconfigure(settings: CircuitSettings, options: CircuitReconfiguration): void {
  for (const fixed of ['name', 'store', 'clock', 'random'] as const) {
    if ((options as Partial<CircuitBreakerOptions>)?.[fixed] === undefined) continue
    throw new OptionError(fixed, `circuitBreaker: ${fixed} cannot be changed; build another breaker`)
  }
  const { store, clock, random } = settings
  const next = circuitSettings({ ...settings.options, ...options, store })
  Object.assign(settings, next, { clock, random })
}

/** One object for all that leave it out. */
const DEFAULT_BACKOFF = { factor: 2, maxMs: 300_000 }

type Reader = OptionReader<CircuitBreakerOptions>

function windowOf(read: Reader): CircuitWindow {
  const why = 'a circuit has one window'
  read.exclude('windowMs', 'windowCalls', why)
  read.exclude('consecutiveFailures', 'windowMs', why)
  read.exclude('consecutiveFailures', 'windowCalls', why)
  read.exclude('syncMs', 'windowCalls', 'the last calls are sent one by one, to keep their order')
  if (read.has('consecutiveFailures')) return { kind: 'consecutive' }
  if (read.has('windowCalls')) return { kind: 'count', calls: read.count('windowCalls', 0) }
  // Ten buckets of at least a millisecond.
  return { kind: 'time', ms: read.milliseconds('windowMs', 30_000, 10) }
}

function refuseWindow(read: Reader, window: CircuitWindow, supported: readonly string[]): never {
  const option = { time: 'windowMs', count: 'windowCalls', consecutive: 'consecutiveFailures' } as const
  const takes = supported.map((kind) => option[kind as CircuitWindow['kind']]).join(' or ')
  return read.refuse(option[window.kind], `left out: this store counts by ${takes}`)
}

function tripOf(read: Reader): TripRule {
  const slowRate = read.rate('slowCallRate', undefined)
  if (slowRate !== undefined && !read.has('slowCallMs')) {
    read.refuse('slowCallMs', 'given where slowCallRate is')
  }
  if (read.has('consecutiveFailures')) {
    const why = 'failures in a row know no rate'
    read.exclude('consecutiveFailures', 'failureRate', why)
    read.exclude('consecutiveFailures', 'minimumCalls', why)
    read.exclude('consecutiveFailures', 'slowCallRate', why)
    return { kind: 'consecutive', failures: read.count('consecutiveFailures', 0) }
  }
  const minimumCalls = read.count('minimumCalls', 10)
  const windowCalls = read.count('windowCalls', Number.POSITIVE_INFINITY)
  if (minimumCalls > windowCalls) {
    read.refuse(
      'windowCalls',
      `at least minimumCalls (${minimumCalls}${read.has('minimumCalls') ? '' : ', when left out'})`,
    )
  }
  return { kind: 'rate', failureRate: read.rate('failureRate', 0.5), slowRate, minimumCalls }
}

/** An outcome is stamped when it is sent: sent later than a bucket after it came, it would outlive the window. */
function syncOf(read: Reader, window: CircuitWindow): number {
  const longest = window.kind === 'time' ? Math.floor(window.ms / 10) : Number.POSITIVE_INFINITY
  const syncMs = read.milliseconds('syncMs', Math.min(100, longest))
  if (syncMs > longest) read.refuse('syncMs', `at most a tenth of windowMs (${longest})`)
  return syncMs
}

function reportersOf(read: Reader): number {
  const minReporters = read.count('minReporters', 1)
  if (minReporters > 1 && read.has('slowCallRate')) {
    read.refuse(
      'minReporters',
      'left out where slowCallRate is given: instances report failures, not slow calls',
    )
  }
  return minReporters
}

function backoffOf(read: Reader, cooldownMs: number): CooldownRule['backoff'] {
  const takes = `{ factor, at least 1; maxMs, whole milliseconds and at least cooldownMs (${cooldownMs}) }`
  const { maxMs } = DEFAULT_BACKOFF
  const fallback = cooldownMs <= maxMs ? DEFAULT_BACKOFF : { ...DEFAULT_BACKOFF, maxMs: cooldownMs }
  return read.read('cooldownBackoff', fallback, takes, (value) => {
    if (typeof value !== 'object' || value === null) return false
    const { factor, maxMs, ...others } = value as Record<string, unknown>
    const isFactor = typeof factor === 'number' && factor >= 1 && Number.isFinite(factor)
    return (
      isFactor &&
      isWhole(maxMs, cooldownMs) &&
      (maxMs as number) < 2 ** 31 &&
      Object.keys(others).length === 0
    )
  })
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1
}

function isStore(value: unknown): boolean {
  const { circuits, supports } = (value ?? {}) as Partial<Store>
  return typeof circuits === 'object' && circuits !== null && Array.isArray(supports?.windows)
}
