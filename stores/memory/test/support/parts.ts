import type {
  CacheEntry,
  CacheStore,
  LeaseAnswer,
  LeaseStore,
  LimitDecision,
  LimitStore,
  Store,
} from '@tidegate/contract'

/** The parts of a memory store, which answer at once. */
export interface PromptLimits extends LimitStore {
  consume(...args: Parameters<LimitStore['consume']>): LimitDecision
  peek(...args: Parameters<LimitStore['peek']>): LimitDecision
}

export interface PromptLeases extends LeaseStore {
  acquire(...args: Parameters<LeaseStore['acquire']>): LeaseAnswer
  renew(...args: Parameters<LeaseStore['renew']>): boolean
}

export interface PromptCache extends CacheStore {
  get(key: string): CacheEntry | undefined
}

export function limitsOf(store: Store): PromptLimits {
  return store.limits as PromptLimits
}

export function leasesOf(store: Store): PromptLeases {
  return store.leases as PromptLeases
}

export function cacheOf(store: Store): PromptCache {
  return store.cache as PromptCache
}
