import type { Facts, Move, Outage } from './facts'

export interface Verdict {
  readonly promise: string
  readonly holds: boolean
  /** What was counted. */
  readonly seen: string
}

/** How long a call that was let in before the trip may still be on its way to the dependency. */
const ON_ITS_WAY_MS = 300

/** What the demo promises, judged by what was seen. Counts, not speeds: machines are shared and noisy. */
export function judge(facts: Facts): readonly Verdict[] {
  const trips = facts.moves.filter(({ from, to, by }) => from === 'closed' && to === 'open' && by === 'here')
  const tripsPerOutage = facts.outages.map(
    (outage) => fencesOf(trips.filter(({ at }) => isIn(at, outage))).size,
  )
  const stray = trips.filter(({ at }) => !facts.outages.some((outage) => isIn(at, outage)))
  const fastFailures = facts.instances.map((name) => countFastFailures(facts, name))
  const verdicts = verdictsPerFence(facts)
  const intruders = facts.outages.map((outage) => countIntruders(facts, outage))
  const probes = facts.outages.map((outage) => facts.probes.filter(({ at }) => at >= outage.from).length)
  return [
    {
      promise: 'each outage trips the circuit once, for all instances',
      holds: tripsPerOutage.every((count) => count === 1) && stray.length === 0,
      seen: `${tripsPerOutage.join(' and ')} trips, ${stray.length} outside an outage`,
    },
    {
      promise: 'every instance fails fast while it is open',
      holds: fastFailures.every((count) => count > 0),
      seen: `${fastFailures.join(', ')} fast failures`,
    },
    {
      promise: 'once all have heard of it, nothing but probes reaches a dependency that is down',
      holds: intruders.every((count) => count === 0),
      seen: `${intruders.join(' and ')} other requests`,
    },
    {
      promise: 'never are two probes out at once',
      holds: facts.mostProbes === 1 && probes.every((count) => count > 0),
      seen: `${facts.probes.length} probes, at most ${facts.mostProbes} at once`,
    },
    {
      promise: 'no fence has two verdicts, and no two probes share one',
      holds: verdicts.every((count) => count <= 1) && fencesOf(facts.probes).size === facts.probes.length,
      seen: `${fencesOf(facts.probes).size} fences, at most ${Math.max(0, ...verdicts)} verdict each`,
    },
    {
      promise: 'the failure of a call from before the first outage, late, counts for nothing',
      holds: facts.late.length > 0 && stray.length === 0,
      seen: `${facts.late.length} late outcomes`,
    },
    {
      promise: 'in the end the circuit is closed, everywhere',
      holds: facts.finalStates.every((state) => state === 'closed'),
      seen: facts.finalStates.join(', '),
    },
  ]
}

/** An outage is over for the circuit when it has noticed, some time after it is over for the dependency. */
function isIn(at: number, outage: Outage): boolean {
  return at >= outage.from && at < outage.to
}

function fencesOf(all: readonly { readonly fence: string }[]): Set<string> {
  return new Set(all.map(({ fence }) => fence))
}

function countFastFailures({ answers }: Facts, name: string): number {
  return answers.filter(({ instance, status }) => instance === name && status === 503).length
}

/** Of each probe's fence, how often the circuit left the period that it names, by that instance's own hand. */
function verdictsPerFence({ moves, probes }: Facts): number[] {
  return probes.map(({ instance, fence }) => {
    const next = moves.filter((move) => move.instance === instance && isVerdictOn(move, moves, fence))
    return fencesOf(next).size
  })
}

function isVerdictOn(move: Move, moves: readonly Move[], fence: string): boolean {
  if (move.from !== 'half-open' || move.by !== 'here') return false
  const before = moves.filter(
    (other) => other.instance === move.instance && other.at <= move.at && other !== move,
  )
  return before.at(-1)?.fence === fence
}

function countIntruders({ moves, arrivals, instances }: Facts, outage: Outage): number {
  const opened = instances.map(
    (name) =>
      moves.find(({ instance, to, at }) => instance === name && to === 'open' && isIn(at, outage))?.at,
  )
  if (opened.includes(undefined)) return Number.POSITIVE_INFINITY
  const from = Math.max(...opened.map((at) => at ?? 0)) + ON_ITS_WAY_MS
  return arrivals.filter(({ at, isProbe }) => !isProbe && at >= from && at < outage.to).length
}
