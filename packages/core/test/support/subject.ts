import {
  type CircuitBreaker,
  type CircuitBreakerOptions,
  type CircuitEvents,
  circuitBreaker,
  memoryStore,
  type Store,
} from '@tidegate/core'
import { settled, VirtualClock } from './virtual-clock'
import { WaywardStore } from './wayward-store'

export const up = async (): Promise<string> => 'up'

export const down = async (): Promise<never> => {
  throw new Error('down')
}

export const ignore = (): void => {}

/** Short times, nothing by chance. */
export function breakerOf(clock: VirtualClock, options: Partial<CircuitBreakerOptions> = {}): CircuitBreaker {
  const rates = options.consecutiveFailures === undefined ? { minimumCalls: 4 } : {}
  return circuitBreaker({
    name: 'payments',
    ...rates,
    cooldownMs: 1_000,
    cooldownJitter: 0,
    probeTimeoutMs: 500,
    clock,
    random: () => 0.5,
    ...options,
  })
}

export interface Fleet {
  readonly clock: VirtualClock
  readonly store: WaywardStore
  readonly inner: Store
  readonly breakers: readonly CircuitBreaker[]
}

/** Breakers of one name, each as an instance of its own, over a store that answers later. */
export function fleetOf(size: number, options: Partial<CircuitBreakerOptions> = {}): Fleet {
  const clock = new VirtualClock()
  const inner = memoryStore({ clock })
  const store = new WaywardStore(inner)
  const breakers = Array.from({ length: size }, () => breakerOf(clock, { store, ...options }))
  return { clock, store, inner, breakers }
}

export async function failTimes(breaker: CircuitBreaker, times: number): Promise<void> {
  for (let call = 0; call < times; call++) await breaker.execute(down).catch(ignore)
  await settled()
}

/** What a breaker told, in order. */
export function listen<Name extends keyof CircuitEvents>(
  breaker: CircuitBreaker,
  ...names: Name[]
): { readonly name: Name; readonly event: CircuitEvents[Name] }[] {
  const heard: { name: Name; event: CircuitEvents[Name] }[] = []
  for (const name of names) breaker.on(name, (event) => heard.push({ name, event }))
  return heard
}

/** A function whose end is in the test's hands, and which does not listen to its signal. */
export class Pending<T> {
  readonly promise: Promise<T>
  resolve!: (value: T) => void
  reject!: (error: unknown) => void
  calls = 0
  signal: AbortSignal | undefined

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }

  readonly run = (context: { readonly signal: AbortSignal }): Promise<T> => {
    this.calls++
    this.signal = context.signal
    return this.promise
  }
}
