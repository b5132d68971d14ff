import { claimsOf } from '../claims'
import { type History, ROUNDING_MS, type Violation } from '../history'
import { authorOf } from '../journal'
import { isSuccess, isVerdict, pairs } from '../periods'

/** A period has one name, which is nobody else's, and comes after all before it. */
export function oneFencePerPeriod({ periods }: History): Violation[] {
  return periods.flatMap(({ fence }, place) => {
    const before = periods.slice(0, place)
    if (before.some((other) => other.fence === fence)) return [`the fence ${fence} came twice`]
    const last = before.at(-1)
    return last !== undefined && fence < last.fence ? [`the fence ${fence} came after ${last.fence}`] : []
  })
}

/** A verdict is the permit holder's, and comes before the lease runs out. */
export function verdictsOfTheirOwners({ periods }: History): Violation[] {
  return pairs(periods).flatMap(([before, after]) => {
    // Where there was none, the rule about what follows what says so.
    if (before.probe === undefined || after.probe !== undefined) return []
    const { owner, until } = before.probe
    const author = authorOf(after.fence)
    const late = after.now - until
    return [
      ...(author === owner ? [] : [`${author} ended the permit ${before.fence}, which was ${owner}'s`]),
      // Giving back what ran out does no harm; to say how the probe came out does.
      ...(late > 0 && isVerdict([before, after])
        ? [`late verdict: ${after.fence} landed ${late} ms after ${before.fence} had run out`]
        : []),
    ]
  })
}

/** One instance says once that it made something of a permit. */
export function oneClaimPerPermit({ tellings }: History): Violation[] {
  const claims = new Map<string, string>()
  return claimsOf(tellings).flatMap(({ instance, from, to, fence, permit }) => {
    if (from !== 'half-open' || permit === undefined) return []
    const claim = `${instance} to ${to} as ${fence}`
    const before = claims.get(permit)
    claims.set(permit, claim)
    return before === undefined ? [] : [`two verdicts under ${permit}: ${before}, and ${claim}`]
  })
}

/** What an instance says it did is in the journal, and nobody says that it did the same. */
export function claimsThatLanded({ periods, tellings }: History): Violation[] {
  const states = new Map(periods.map(({ fence, state }) => [fence, state]))
  const claimants = new Map<string, string>()
  return claimsOf(tellings).flatMap(({ instance, to, fence }) => {
    const before = claimants.get(fence)
    claimants.set(fence, instance)
    const state = states.get(fence)
    return [
      ...(before === undefined ? [] : [`${before} and ${instance} both say that they began ${fence}`]),
      ...(state === to ? [] : [`${instance} says it moved to ${to} as ${fence}; the journal says ${state}`]),
    ]
  })
}

/** A probe has succeeded when the dependency answered it, and not before. */
export function successesThatWere({ periods, visits }: History): Violation[] {
  return pairs(periods).flatMap(([before, after]) => {
    if (!isSuccess([before, after])) return []
    const isAnswered = visits.some(
      ({ fence, end }) =>
        fence === before.fence && end?.how === 'answered' && end.at <= after.now + ROUNDING_MS,
    )
    return isAnswered ? [] : [`${after.fence} counts a success of ${before.fence}, which had none`]
  })
}
