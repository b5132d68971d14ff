import type { Period } from './journal'

/** Each period with the one after it. */
export function pairs(periods: readonly Period[]): [Period, Period][] {
  return periods.slice(1).map((after, place) => [periods[place] as Period, after])
}

export function isTrip([before, after]: [Period, Period]): boolean {
  return before.state === 'closed' && after.state === 'open'
}

/** Whether a probe's outcome made the one into the other. */
export function isVerdict([before, after]: [Period, Period]): boolean {
  return before.probe !== undefined && (after.state !== 'half-open' || isSuccess([before, after]))
}

export function isSuccess([before, after]: [Period, Period]): boolean {
  if (before.probe === undefined) return false
  return (
    after.state === 'closed' || (after.state === 'half-open' && after.probeSuccesses > before.probeSuccesses)
  )
}

/** Whether a permit came back without a verdict. */
export function isGivenBack([before, after]: [Period, Period]): boolean {
  const lies = after.state === 'half-open' && after.probe === undefined
  return before.probe !== undefined && lies && !isSuccess([before, after])
}
