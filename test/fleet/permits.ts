import type { Period } from './journal'

/** A right to probe, as the journal knows it. */
export interface Permit {
  readonly fence: string
  readonly owner: string
  readonly from: number
  /** When its lease runs out. */
  readonly until: number
  /** When it was nobody's any more: given up by verdict or yield, or run out. */
  readonly endedAt: number
  /** Whether nobody had given it up before it ran out. */
  readonly hasLapsed: boolean
}

export function permitsOf(periods: readonly Period[]): Permit[] {
  return periods.flatMap(({ fence, probe, now }, place) => {
    if (probe === undefined) return []
    const next = periods[place + 1]
    // Whoever merely takes it does not end it.
    const isGivenUp = next !== undefined && next.probe === undefined
    const endedAt = isGivenUp ? Math.min(probe.until, next.now) : probe.until
    const hasLapsed = next !== undefined && !(isGivenUp && next.now <= probe.until)
    return [{ fence, owner: probe.owner, from: now, until: probe.until, endedAt, hasLapsed }]
  })
}

/** The most permits that were live at one moment. */
export function mostLive(permits: readonly Permit[]): number {
  const liveAt = (moment: number) =>
    permits.filter(({ from, endedAt }) => from <= moment && moment < endedAt).length
  return Math.max(0, ...permits.map(({ from }) => liveAt(from)))
}
