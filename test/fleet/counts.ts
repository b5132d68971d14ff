import type { History } from './history'
import { isGivenBack, isTrip, isVerdict, pairs } from './periods'
import { mostLive, permitsOf } from './permits'
import type { Counts } from './reports'
import { leaksOf } from './rules/open-traffic'

/** A history in numbers. */
export function countsOf(history: History): Record<string, number> {
  const { periods, visits, tellings } = history
  const permits = permitsOf(periods)
  const lapsed = permits.filter(({ hasLapsed }) => hasLapsed).map(({ fence }) => fence)
  const late = new Set(tellings.flatMap(({ report }) => (report.kind === 'late' ? [report.fence] : [])))
  const leaks = leaksOf(history)
  const heard = leaks.filter(({ isDeaf }) => !isDeaf).map(({ lateMs }) => lateMs)
  const counts = [...latestCounts(history).values()]
  const sum = (of: (counts: Counts) => number) => counts.reduce((total, one) => total + of(one), 0)
  const rejected = sum(({ rejections }) => Object.values(rejections).reduce((total, one) => total + one, 0))
  return {
    trips: pairs(periods).filter(isTrip).length,
    permits: permits.length,
    'most permits live at once': mostLive(permits),
    'verdicts landed': pairs(periods).filter(isVerdict).length,
    'late verdicts refused': lapsed.filter((fence) => late.has(fence)).length,
    'leases that ran out': lapsed.length,
    'permits given back': pairs(periods).filter(isGivenBack).length,
    'outages of the store that instances saw': tellings.filter(({ report }) => report.kind === 'storeDown')
      .length,
    calls:
      sum(({ successes, failures, timeouts, left }) => successes + failures + timeouts + left) + rejected,
    'calls rejected': rejected,
    'calls that reached the dependency': visits.length,
    'of these while it was open': leaks.length,
    'the latest so many ms after the trip': Math.max(0, ...heard),
    'and of these without news of the trip for a reason': leaks.length - heard.length,
  }
}

/** What each instance last said that its calls came to. */
function latestCounts({ tellings }: History): Map<string, Counts> {
  return new Map(
    tellings.flatMap(({ instance, report }) => ('counts' in report ? [[instance, report.counts]] : [])),
  )
}
