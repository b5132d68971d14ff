import { count, type Facts } from './facts'
import { TRIPS_AFTER } from './shop'
import { DEGRADATIONS, type Degradation } from './visitor'

export interface Verdict {
  readonly promise: string
  readonly holds: boolean
  /** What was counted. */
  readonly seen: string
}

/** What the example promises, judged by counts. */
export function judge(facts: Facts): readonly Verdict[] {
  const { visits, reachedWhileDown, probesWhileDown } = facts
  const up = visits.filter(({ weather }) => weather === 'up')
  const wholeWhileUp = count(facts, { weather: 'up', worth: 'whole' })
  const last = visits.filter(({ weather }) => weather === 'up again').slice(-DEGRADATIONS.length)
  const wholeAgain = last.filter(({ worth }) => worth === 'whole').length
  return [
    {
      promise: 'while the dependency is up every answer is whole',
      holds: up.length > 0 && wholeWhileUp === up.length,
      seen: `${wholeWhileUp} of ${up.length}`,
    },
    seenDegraded(facts, 'cached', 'the price is the last good one, and says how old it is'),
    seenDegraded(facts, 'feature off', 'the page goes without its reviews'),
    seenDegraded(facts, 'default', 'the delivery is the usual one, and says so'),
    {
      promise: 'the dependency is left alone: what opens the circuit reaches it, and probes',
      holds: reachedWhileDown <= TRIPS_AFTER + probesWhileDown,
      seen: `${reachedWhileDown} requests, ${probesWhileDown} probes`,
    },
    {
      promise: 'when it is back every answer is whole again',
      holds: last.length > 0 && wholeAgain === last.length,
      seen: `${wholeAgain} of the last ${last.length}`,
    },
  ]
}

/** Of a run that asked for it: 0 if all that was promised was true. */
export function exitCode(verdicts: readonly Verdict[]): 0 | 1 {
  return verdicts.every(({ holds }) => holds) ? 0 : 1
}

function seenDegraded(facts: Facts, degradation: Degradation, promise: string): Verdict {
  const [degraded, whole] = (['degraded', 'whole'] as const).map((worth) =>
    count(facts, { weather: 'down', degradation, worth }),
  ) as [number, number]
  return {
    promise: `while it is down ${promise}`,
    holds: degraded > 0 && whole === 0,
    seen: `${degraded} such answers, ${whole} whole ones`,
  }
}
