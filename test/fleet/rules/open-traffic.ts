import { isProbe, type Visit } from '../dependency'
import type { History, Violation } from '../history'
import type { Period } from '../journal'
import { HARNESS, type Telling } from '../reports'

/** For the exchange that brings the news, where ten processes share two cores. */
const MARGIN_MS = 100

/** A call that reached the dependency while the circuit was not closed, and that was no probe. */
export interface Leak {
  readonly visit: Visit
  /** How long the circuit had not been closed when the call was let through. */
  readonly lateMs: number
  /** Whether its instance could not hear of the trip in time, for the way to the store was troubled. */
  readonly isDeaf: boolean
  /** Whether nobody can blame its instance. */
  readonly isExcused: boolean
}

/** While the circuit is open nothing but probes reaches the dependency, but for who has not heard yet. */
export function nothingWhileOpen(history: History): Violation[] {
  const { syncMs } = history.options
  return leaksOf(history)
    .filter(({ isExcused }) => !isExcused)
    .map(
      ({ visit: { instance, fence }, lateMs }) =>
        `${instance} let a call through under ${fence} ${lateMs} ms after the trip; it takes ${syncMs} to hear of it`,
    )
}

export function leaksOf(history: History): Leak[] {
  const { periods, visits, tellings, options } = history
  const deafness = [...history.deafness, ...withoutStore(tellings, options.syncMs + options.storeTimeoutMs)]
  const stretches = stretchesOf(periods)
  return visits.flatMap((visit) => {
    if (isProbe(visit)) return []
    const { instance, sentAt } = visit
    // Stamped in the same ms as the swap, nobody can say which was first.
    const stretch = stretches.find(({ from, until }) => from < sentAt && sentAt < until)
    if (stretch === undefined) return []
    const lateMs = sentAt - stretch.from
    const heardBy = options.syncMs + MARGIN_MS + stalledMs(tellings, instance, stretch.from, sentAt)
    const isDeaf = deafness.some(
      (one) => one.instance === instance && one.from <= sentAt && sentAt <= one.until,
    )
    return [{ visit, lateMs, isDeaf, isExcused: isDeaf || lateMs <= heardBy }]
  })
}

/** From when to when the circuit was not closed. */
function stretchesOf(periods: readonly Period[]): { readonly from: number; readonly until: number }[] {
  const stretches: { from: number; until: number }[] = []
  let from: number | undefined
  for (const { state, now } of periods) {
    if (state !== 'closed') from ??= now
    else if (from !== undefined) {
      stretches.push({ from, until: now })
      from = undefined
    }
  }
  if (from !== undefined) stretches.push({ from, until: Number.POSITIVE_INFINITY })
  return stretches
}

/** For so long of a span the process was not running, or its surroundings were not. */
function stalledMs(tellings: readonly Telling[], instance: string, from: number, until: number): number {
  return tellings.reduce((sum, telling) => {
    const { instance: who } = telling
    if (telling.report.kind !== 'stall' || (who !== instance && who !== HARNESS)) return sum
    return sum + Math.max(0, Math.min(until, telling.report.at) - Math.max(from, telling.report.from))
  }, 0)
}

/** When an instance had no store: from before it noticed, until a while after it had it back. */
function withoutStore(tellings: readonly Telling[], noticeMs: number): History['deafness'] {
  return tellings.flatMap(({ instance, report }, place) => {
    if (report.kind !== 'storeDown') return []
    const back = tellings
      .slice(place)
      .find((other) => other.instance === instance && other.report.kind === 'storeUp')
    const until = back === undefined ? Number.POSITIVE_INFINITY : back.report.at + MARGIN_MS
    return [{ instance, from: report.at - noticeMs, until }]
  })
}
