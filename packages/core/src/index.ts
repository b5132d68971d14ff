export type * from '@tidegate/contract'
export { type MemoryStoreOptions, memoryStore } from '@tidegate/store-memory'
export {
  type Bulkhead,
  type BulkheadEvents,
  type BulkheadOptions,
  type BulkheadStats,
  bulkhead,
  type CallInfo,
} from './bulkhead/bulkhead'
export type { CallContext } from './call/context'
export { follow } from './call/signals'
export type { CircuitBreaker, CircuitRejection, CircuitStats } from './circuit/breaker'
export { type CircuitBreakerFactory, circuitBreaker } from './circuit/circuit-breaker'
export type { CircuitEvents } from './circuit/events'
export type { KeyedCircuitBreaker, KeyedOptions } from './circuit/keyed'
export type { CircuitBreakerOptions, WhenStoreDown } from './circuit/options'
export { isFailureByDefault, isFailureResultByDefault } from './circuit/outcome'
export type { Reach } from './circuit/switches'
export { type CancelTimer, type Clock, systemClock } from './clock'
export { compose } from './compose/compose'
export type { Pipeline } from './compose/pipeline'
export { type PolicyRegistry, policies } from './compose/registry'
export {
  type Resilience,
  type ResilienceOptions,
  type ResilienceReconfiguration,
  resilience,
} from './compose/resilience'
export {
  BulkheadFullError,
  CircuitIsolatedError,
  CircuitOpenError,
  type ErrorCode,
  LeaseLostError,
  OptionError,
  RateLimitedError,
  StoreError,
  TidegateError,
  TimeoutError,
} from './errors'
export type { Listener, Unlisten } from './events'
export {
  type Fallback,
  type FallbackEvents,
  type FallbackOptions,
  type FallbackStats,
  fallback,
} from './fallback/fallback'
export { type Hedge, type HedgeEvents, type HedgeOptions, type HedgeStats, hedge } from './hedge/hedge'
export type { ExecuteOptions, Policy, Protected } from './policy'
export type { OnStoreDown } from './rate-limit/limiter'
export type { QuotaOptions, QuotasOptions } from './rate-limit/quotas'
export {
  type RateLimit,
  type RateLimitEvents,
  type RateLimitOptions,
  type RateLimitStats,
  rateLimit,
} from './rate-limit/rate-limit'
export { type RetryBudget, type RetryBudgetOptions, retryBudget } from './retry/budget'
export {
  type GiveUpReason,
  type Retry,
  type RetryEvents,
  type RetryOptions,
  type RetryStats,
  retry,
} from './retry/retry'
export {
  type StaleCache,
  type StaleCacheEvents,
  type StaleCacheOptions,
  type StaleCacheStats,
  type Staleness,
  staleCache,
} from './stale-cache/stale-cache'
export {
  type Timeout,
  type TimeoutEvents,
  type TimeoutOptions,
  type TimeoutStats,
  timeout,
} from './timeout/timeout'
