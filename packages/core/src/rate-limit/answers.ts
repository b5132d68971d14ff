import type { LimitDecision, QuotaState } from '@tidegate/contract'
import { checkCount, fieldsOf, unreadable } from '../store/answers'

/**
 * A decision of a store, checked before it is believed.
 *
 * @throws StoreError where it is none
 */
export function readDecision(answer: unknown): LimitDecision {
  const { allowed, violated, retryAfterMs, reservation, quotas } = fieldsOf(answer, 'a decision')
  if (typeof allowed !== 'boolean') throw unreadable('allowed', allowed)
  if (typeof reservation !== 'string') throw unreadable('reservation', reservation)
  if (!Array.isArray(violated) || !violated.every((name) => typeof name === 'string')) {
    throw unreadable('violated', violated)
  }
  // Infinity where it never would be allowed.
  if (typeof retryAfterMs !== 'number' || !(retryAfterMs >= 0)) throw unreadable('retryAfterMs', retryAfterMs)
  if (!Array.isArray(quotas)) throw unreadable('quotas', quotas)
  for (const quota of quotas) checkQuotaState(quota)
  return answer as LimitDecision
}

function checkQuotaState(state: unknown): asserts state is QuotaState {
  const { name, limit, remaining, resetMs } = fieldsOf(state, 'quotas')
  if (typeof name !== 'string') throw unreadable('quotas.name', name)
  checkCount('quotas.limit', limit)
  checkCount('quotas.remaining', remaining)
  checkCount('quotas.resetMs', resetMs)
}
