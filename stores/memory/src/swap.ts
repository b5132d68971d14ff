import type { CircuitState, Terms } from '@tidegate/contract'
import { type HalfOpen, type Permit, type Phase, presentTrips } from './phase'

/**
 * What a swap makes of a circuit whose state and fence are already known to be
 * those the caller decided on; undefined where the present does not allow it.
 */
export function decideSwap(phase: Phase, to: CircuitState, terms: Terms, now: number): Phase | undefined {
  const trips = presentTrips(phase, terms.window, now)
  switch (to) {
    case 'open':
      return { state: 'open', openedAt: now, probeAfter: now + terms.cooldownMs, trips: trips + 1 }
    case 'closed':
      // A reset of a closed circuit does not interrupt its having stayed closed.
      return { state: 'closed', since: phase.state === 'closed' ? phase.since : now, trips }
    case 'isolated':
      return { state: 'isolated', trips }
    case 'half-open':
      if (phase.state === 'open') {
        const { openedAt, probeAfter } = phase
        if (now < probeAfter) return undefined
        const permit = permitFor(terms, now)
        return { state: 'half-open', openedAt, probeAfter, trips, probeSuccesses: 0, permit }
      }
      if (phase.state === 'half-open') return terms.yield ? yielded(phase, terms) : claimed(phase, terms, now)
      return undefined
  }
}

/** A lapsed permit is still its owner's to yield: nobody claimed it, or the fence would be another. */
function yielded(phase: HalfOpen, terms: Terms): HalfOpen | undefined {
  if (phase.permit === undefined || phase.permit.owner !== terms.owner) return undefined
  const probeSuccesses = phase.probeSuccesses + (terms.succeeded ? 1 : 0)
  return { ...phase, probeSuccesses, permit: undefined }
}

function claimed(phase: HalfOpen, terms: Terms, now: number): HalfOpen | undefined {
  if (phase.permit !== undefined && now < phase.permit.until) return undefined
  return { ...phase, permit: permitFor(terms, now) }
}

function permitFor(terms: Terms, now: number): Permit {
  // Checked when the command came in: nobody takes a permit without saying who.
  return { owner: terms.owner as string, until: now + terms.leaseMs }
}
