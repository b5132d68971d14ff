import type { Facts, Outage } from './facts'
import { PATIENCE_MS } from './schedule'

export interface Verdict {
  readonly promise: string
  readonly holds: boolean
  /** What was counted. */
  readonly seen: string
}

/** One in so many refusals may be slow: a machine that is busy elsewhere stops all that runs here. */
const SLOW_REFUSALS = 10

/** What the demo promises, judged by what was seen. Counts, not speeds: machines are shared and noisy. */
export function judge(facts: Facts): readonly Verdict[] {
  const { instances, outages, answers, probes, mostProbes, finalStates } = facts
  const trips = facts.moves.filter(({ from, to, by }) => from === 'closed' && to === 'open' && by === 'here')
  const tripsPerOutage = outages.map(({ from, to }) => fencesOf(between(trips, from, to)).size)
  const stray = trips.filter(({ at }) => !outages.some(({ from, to }) => at >= from && at < to))
  const refused = answers.filter(({ status }) => status === 503)
  const waited = refused.filter(({ tookMs }) => tookMs >= PATIENCE_MS)
  const refusedEach = outages.map((outage) => {
    const meanwhile = between(refused, outage.from, endOfRecovery(facts, outage))
    return instances.map((name) => meanwhile.filter(({ instance }) => instance === name).length)
  })
  const probesEach = outages.map(
    (outage) => between(probes, outage.from, endOfRecovery(facts, outage)).length,
  )
  const intruders = outages.map((outage) => countIntruders(facts, outage))
  const verdicts = verdictsPerFence(facts)
  const [recovered, stragglers] = [outages.map((outage) => countClosed(facts, outage)), harmless(facts)]
  return [
    {
      promise: 'each outage trips the circuit once, for all instances',
      holds: tripsPerOutage.every((count) => count === 1) && stray.length === 0,
      seen: `${tripsPerOutage.join(' and ')} trips, ${stray.length} outside an outage`,
    },
    {
      promise: 'in each outage every instance fails fast',
      holds: refusedEach.flat().every((count) => count > 0),
      seen: `${refusedEach.map((counts) => counts.join(', ')).join(' and ')} fast failures`,
    },
    {
      promise: 'who is refused does not wait for it as for an answer',
      holds: waited.length <= refused.length / SLOW_REFUSALS,
      seen: `${waited.length} of ${refused.length} refusals took as long as a call may`,
    },
    {
      promise: 'an instance that has opened sends the dependency probes and nothing else, until it closes',
      holds: intruders.every((count) => count === 0),
      seen: `${intruders.join(' and ')} other requests`,
    },
    {
      promise: 'each outage is probed, and never are two probes out at once',
      holds: mostProbes === 1 && probesEach.every((count) => count > 0),
      seen: `${probesEach.join(' and ')} probes; the dependency saw at most ${mostProbes} at once`,
    },
    {
      promise: 'no fence has two verdicts, and no two probes share one',
      holds: verdicts.every((count) => count <= 1) && fencesOf(probes).size === probes.length,
      seen: `${fencesOf(probes).size} fences, at most ${Math.max(0, ...verdicts)} verdict each`,
    },
    {
      promise: 'the failure of a call from before the first outage, late, counts for nothing',
      holds: stragglers === 1 && stray.length === 0,
      seen: `${stragglers} such failure, met by a closed circuit that stayed closed`,
    },
    {
      promise: 'after each outage, and not before its end, the circuit closes everywhere',
      holds: recovered.every((count) => count === instances.length) && finalStates.every(isClosed),
      seen: `${recovered.join(' and ')} instances; in the end ${finalStates.join(', ')}`,
    },
  ]
}

/** Of a run with `--once`: what was not judged is not true. */
export function exitCode(verdicts: readonly Verdict[] | undefined): 0 | 1 {
  return verdicts?.every(({ holds }) => holds) ? 0 : 1
}

function isClosed(state: string | undefined): boolean {
  return state === 'closed'
}

function between<Moment extends { readonly at: number }>(all: readonly Moment[], from: number, to: number) {
  return all.filter(({ at }) => at >= from && at < to)
}

function fencesOf(all: readonly { readonly fence: string }[]): Set<string> {
  return new Set(all.map(({ fence }) => fence))
}

/** The next outage is another story. */
function endOfRecovery({ outages }: Facts, outage: Outage): number {
  return outages.find(({ from }) => from > outage.from)?.from ?? Number.POSITIVE_INFINITY
}

/** How many verdicts landed on each period in which a probe was out, whichever instances they came from. */
function verdictsPerFence({ moves, probes }: Facts): number[] {
  const verdicts = moves.filter(({ from, by }) => from === 'half-open' && by === 'here')
  return probes.map(({ fence }) => fencesOf(verdicts.filter(({ left }) => left === fence)).size)
}

/** Requests that an instance sent while it knew the circuit to be open, other than probes. */
function countIntruders(facts: Facts, outage: Outage): number {
  const moves = between(facts.moves, outage.from, endOfRecovery(facts, outage))
  const each = facts.instances.map((name) => {
    const own = moves.filter(({ instance }) => instance === name)
    const opened = own.find(({ to }) => to === 'open')?.at ?? outage.from
    const closed = own.find(({ to }) => isClosed(to))?.at ?? Number.POSITIVE_INFINITY
    return facts.arrivals.filter(
      ({ instance, sentAt, isProbe }) => instance === name && !isProbe && sentAt > opened && sentAt < closed,
    ).length
  })
  return each.reduce((sum, count) => sum + count, 0)
}

function countClosed(facts: Facts, outage: Outage): number {
  const moves = between(facts.moves, outage.from, endOfRecovery(facts, outage)).filter(({ to }) =>
    isClosed(to),
  )
  if (moves.some(({ at }) => at < outage.to)) return 0
  return new Set(moves.map(({ instance }) => instance)).size
}

/** Failures of calls from before the first trip that came long after it, to an instance that had recovered. */
function harmless({ moves, late, stragglerFailedAt }: Facts): number {
  const firstTrip = moves.find(({ to }) => to === 'open')
  const ofOld = late.filter(
    ({ at, outcome, fence }) =>
      at >= stragglerFailedAt && outcome === 'failure' && firstTrip !== undefined && fence < firstTrip.fence,
  )
  return ofOld.filter(({ at, instance }) =>
    isClosed(moves.filter((move) => move.instance === instance && move.at <= at).at(-1)?.to),
  ).length
}
