import {
  type CircuitBreaker,
  type CircuitBreakerOptions,
  type CircuitEvents,
  type Clock,
  circuitBreaker,
  type Store,
} from '@tidegate/core'
import { ioredisStore } from '@tidegate/store-ioredis'
import type { Redis } from 'ioredis'
import { until } from '../support/until'
import { type Gates, gated } from './gates'

export const NAME = 'payments'
export const COOLDOWN_MS = 200
const STORE_TIMEOUT_MS = 250

/** Calls that fail until the circuit opens. */
export const MINIMUM_CALLS = 5

export interface Instance extends AsyncDisposable {
  readonly redis: Redis
  readonly store: Store
  readonly breaker: CircuitBreaker
  /** Where its commands can be held on their way to the store. */
  readonly gates: Gates
  readonly late: CircuitEvents['late'][]
  readonly probes: CircuitEvents['probe'][]
  readonly transitions: CircuitEvents['transition'][]
  isAway: boolean
}

/** One instance of a fleet: a client of its own, and a breaker over it. */
export async function instanceOn(
  redis: Redis,
  options: Partial<CircuitBreakerOptions> = {},
): Promise<Instance> {
  redis.on('error', () => {})
  await until('a client that is ready', () => redis.status === 'ready')
  const gates = gated(ioredisStore(redis))
  const { store } = gates
  const breaker = circuitBreaker({
    name: NAME,
    store,
    minimumCalls: MINIMUM_CALLS,
    windowMs: 10_000,
    cooldownMs: COOLDOWN_MS,
    cooldownJitter: 0,
    probeTimeoutMs: 1_000,
    syncMs: 20,
    storeTimeoutMs: STORE_TIMEOUT_MS,
    ...options,
  })
  const instance: Instance = {
    redis,
    store,
    breaker,
    gates,
    late: [],
    probes: [],
    transitions: [],
    isAway: false,
    async [Symbol.asyncDispose]() {
      gates.openAll()
      await breaker.close()
      await store.close()
      redis.disconnect()
    },
  }
  breaker.on('late', (event) => instance.late.push(event))
  breaker.on('probe', (event) => instance.probes.push(event))
  breaker.on('transition', (event) => instance.transitions.push(event))
  breaker.on('storeDown', () => {
    instance.isAway = true
  })
  breaker.on('storeUp', () => {
    instance.isAway = false
  })
  // What it knows of the fleet from here on it knows from the store.
  await breaker.execute(up)
  await breaker.flush()
  return instance
}

export async function up(): Promise<string> {
  return 'up'
}

async function down(): Promise<never> {
  throw new Error('down')
}

/** What a call came to: its value, or the code or message of its error. */
export async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call
  } catch (error) {
    return (error as { code?: string }).code ?? (error as Error).message
  }
}

export async function fail({ breaker }: Instance, times: number): Promise<void> {
  for (let call = 0; call < times; call++) await outcomeOf(breaker.execute(down))
}

/** Fails until the circuit is open for all, as this instance sees it. */
export async function trip(instance: Instance): Promise<void> {
  await until('a trip', async () => {
    await outcomeOf(instance.breaker.execute(down))
    return instance.breaker.state === 'open'
  })
}

/** Calls until the state is seen, which an open circuit is by the call that probes it. */
export async function callUntil({ breaker }: Instance, state: string): Promise<void> {
  await until(`the state ${state}`, async () => {
    await outcomeOf(breaker.execute(up))
    return breaker.state === state
  })
}

/** Until the cooldown is over by anybody's clock. */
export async function cooldownOver({ breaker }: Instance): Promise<void> {
  await until('the end of the cooldown', () => breaker.rejection() === undefined)
}

/** A clock that is this much ahead of everybody else's. */
export function clockAhead(ms: number): Clock {
  return {
    now: () => performance.timeOrigin + performance.now() + ms,
    setTimeout(callback, delay, keepAlive) {
      const timer = setTimeout(callback, delay)
      if (!keepAlive) timer.unref()
      return () => clearTimeout(timer)
    },
  }
}
