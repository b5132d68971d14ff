import type { History, Violation } from '../history'
import { isTrip, pairs } from '../periods'

/** So long an answer on this machine was under way that a limit of its caller's may have passed. */
const SLOW_MS = 100

/** What opens a circuit happened in the very period that it ends. */
export function tripsWithEvidence({ periods, visits, options }: History): Violation[] {
  const needed = Math.ceil(options.failureRate * options.minimumCalls)
  return pairs(periods).flatMap(([before, after]) => {
    if (!isTrip([before, after])) return []
    const bad = visits.filter(
      ({ fence, sentAt, at, end }) =>
        fence === before.fence &&
        at <= after.now &&
        (end?.how !== 'answered' || end.at > after.now || end.at - sentAt >= SLOW_MS),
    )
    if (bad.length >= needed) return []
    return [`${after.fence} opened on ${bad.length} failures under ${before.fence}; it takes ${needed}`]
  })
}
