import type { CircuitState } from '@tidegate/core'
import { isShared } from './journal'
import type { Telling } from './reports'

/** That an instance moved the fleet's circuit, as it says itself. */
export interface Claim {
  readonly instance: string
  readonly from: CircuitState
  readonly to: CircuitState
  /** Of the period that it began. */
  readonly fence: string
  /** Under which it had probed last. */
  readonly permit: string | undefined
}

/**
 * All claims, in the order in which they were told. Whoever comes back from a circuit
 * of its own is told of the fleet's again, be it as one that it moved itself, before it
 * went: that is none.
 */
export function claimsOf(tellings: readonly Telling[]): Claim[] {
  const permits = new Map<string, string>()
  const alone = new Set<string>()
  const claims: Claim[] = []
  for (const { instance, report } of tellings) {
    if (report.kind === 'probe' && isShared(report.fence)) permits.set(instance, report.fence)
    if (report.kind !== 'transition') continue
    const { from, to, fence, by } = report
    if (!isShared(fence)) alone.add(instance)
    else if (!alone.delete(instance) && by === 'here') {
      claims.push({ instance, from, to, fence, permit: permits.get(instance) })
    }
  }
  return claims
}
