import { bulkhead, circuitBreaker, compose, fallback, hedge, retry, timeout } from '@tidegate/core'
import {
  circuitBreaker as cockatielBreaker,
  bulkhead as cockatielBulkhead,
  fallback as cockatielFallback,
  retry as cockatielRetry,
  timeout as cockatielTimeout,
  ExponentialBackoff,
  handleAll,
  SamplingBreaker,
  TimeoutStrategy,
  wrap,
} from 'cockatiel'
import Opossum from 'opossum'

const work = async () => 1
const TIMEOUT_MS = 10_000

const ours = {
  retry: () => retry({ name: 'bench' }),
  circuit: () => circuitBreaker({ name: 'bench' }),
  timeout: () => timeout({ name: 'bench', timeoutMs: TIMEOUT_MS }),
  bulkhead: () => bulkhead({ name: 'bench', limit: 100 }),
  fallback: () => fallback({ name: 'bench', fallback: 0 }),
  hedge: () => hedge({ name: 'bench', delayMs: 1_000 }),
}

const cockatiels = {
  retry: () => cockatielRetry(handleAll, { maxAttempts: 2, backoff: new ExponentialBackoff() }),
  circuit: () =>
    cockatielBreaker(handleAll, {
      halfOpenAfter: 30_000,
      breaker: new SamplingBreaker({ threshold: 0.5, duration: 30_000, minimumRps: 1 }),
    }),
  timeout: () => cockatielTimeout(TIMEOUT_MS, TimeoutStrategy.Aggressive),
  bulkhead: () => cockatielBulkhead(100),
  fallback: () => cockatielFallback(handleAll, 0),
}

/** The policies that cockatiel has, too. */
export const peerKinds = Object.keys(cockatiels)

const execute = (policy) => () => policy.execute(work)

/** Retry, breaker and timeout around a call that succeeds, and then a bulkhead as well. */
export function composedCalls() {
  const opossum = new Opossum(work, { timeout: TIMEOUT_MS, rollingCountTimeout: 30_000 })
  return {
    'a bare await': work,
    'opossum, breaker and timeout': () => opossum.fire(),
    'cockatiel: retry, breaker, timeout': execute(
      wrap(cockatiels.retry(), cockatiels.circuit(), cockatiels.timeout()),
    ),
    'cockatiel, with a bulkhead': execute(
      wrap(cockatiels.retry(), cockatiels.bulkhead(), cockatiels.circuit(), cockatiels.timeout()),
    ),
    'Tidegate: retry, breaker, timeout': execute(compose(ours.retry(), ours.circuit(), ours.timeout())),
    'Tidegate, with a bulkhead': execute(
      compose(ours.retry(), ours.bulkhead(), ours.circuit(), ours.timeout()),
    ),
  }
}

/** Each policy alone, beside cockatiel's where it has one. */
export function singleCalls() {
  const entries = (whose, policies) =>
    Object.entries(policies).map(([kind, build]) => [`${whose} ${kind}`, execute(build())])
  return {
    'a bare await': work,
    ...Object.fromEntries([...entries('cockatiel', cockatiels), ...entries('Tidegate', ours)]),
  }
}
