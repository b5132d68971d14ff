import type { Quota, QuotaState } from '@tidegate/contract'
import { type Meter, UNUSED } from './meter'
import { findSlot, type Slots } from './slots'

export interface Refusal {
  readonly violated: readonly string[]
  readonly retryAfterMs: number
}

/** Why the cost may not be consumed now; undefined where it may. */
export function refusalOf(
  slots: Slots,
  quotas: readonly Quota[],
  cost: number,
  now: number,
): Refusal | undefined {
  let violated: string[] | undefined
  let retryAfterMs = 0
  for (const quota of quotas) {
    const waitMs = meterOf(slots, quota).waitMs(quota, cost, now)
    if (waitMs === 0) continue
    violated ??= []
    violated.push(quota.name)
    // What fits once goes on to fit while nobody comes: they all do when the last of them does.
    retryAfterMs = Math.max(retryAfterMs, waitMs)
  }
  return violated && { violated, retryAfterMs }
}

export function statesOf(slots: Slots, quotas: readonly Quota[], now: number): QuotaState[] {
  return quotas.map((quota) => {
    const meter = meterOf(slots, quota)
    const { name, limit } = quota
    return { name, limit, remaining: meter.remaining(quota, now), resetMs: meter.resetMs(quota, now) }
  })
}

function meterOf(slots: Slots, quota: Quota): Meter {
  return findSlot(slots, quota)?.meter ?? UNUSED[quota.algorithm]
}
