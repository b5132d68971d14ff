import { isProbe, type ProbeVisit } from '../dependency'
import { type History, ROUNDING_MS, type Violation } from '../history'
import { isShared } from '../journal'
import { permitsOf } from '../permits'

/** No permit is given out while another is live. */
export function onePermit({ periods }: History): Violation[] {
  const permits = permitsOf(periods)
  return permits.flatMap((permit, place) =>
    permits
      .slice(0, place)
      .filter(({ endedAt }) => permit.from < endedAt)
      .map(
        ({ fence, endedAt }) =>
          `two live permits: ${permit.fence} was given out ${endedAt - permit.from} ms before ${fence} had ended`,
      ),
  )
}

/** No two probes are at the dependency under permits that are live. */
export function oneProbeAtOnce({ periods, visits }: History): Violation[] {
  const ends = new Map(permitsOf(periods).map(({ fence, endedAt }) => [fence, endedAt]))
  // The journal may say that a permit was given up; what it does not know of was live to the end.
  const endOf = ({ fence, until }: ProbeVisit) => Math.min(until, ends.get(fence) ?? until)
  const probes = visits.filter(isProbe).filter(({ fence }) => isShared(fence))
  return probes.flatMap((probe, place) =>
    probes
      .slice(0, place)
      .filter((other) => other.fence !== probe.fence)
      .filter((other) => probe.at < (other.end?.at ?? Number.POSITIVE_INFINITY))
      .filter((other) => probe.at + ROUNDING_MS < endOf(other))
      .map(
        (other) =>
          `two live probes: ${probe.instance} came under ${probe.fence} while ${other.instance} was there under ${other.fence}`,
      ),
  )
}

/** A permit is for one request. */
export function oneProbePerFence({ visits }: History): Violation[] {
  const first = new Map<string, ProbeVisit>()
  return visits.filter(isProbe).flatMap((probe) => {
    const before = first.get(probe.fence)
    first.set(probe.fence, before ?? probe)
    if (before === undefined) return []
    return [`two probes under ${probe.fence}: of ${before.instance} and of ${probe.instance}`]
  })
}

/** Without the store nobody probes: these fleets hold. */
export function noProbeWithoutPermit({ visits }: History): Violation[] {
  return visits
    .filter((visit) => isProbe(visit) && !isShared(visit.fence))
    .map(({ instance, fence, at }) => `${instance} probed under ${fence}, which is nobody's permit, at ${at}`)
}
