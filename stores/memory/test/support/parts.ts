import type { LimitDecision, LimitStore, Store } from '@tidegate/contract'

/** The limits of a memory store, which answer at once. */
export interface PromptLimits extends LimitStore {
  consume(...args: Parameters<LimitStore['consume']>): LimitDecision
  peek(...args: Parameters<LimitStore['peek']>): LimitDecision
}

export function limitsOf(store: Store): PromptLimits {
  return store.limits as PromptLimits
}
