import type { Facts } from './facts'
import { milliseconds, percentile } from './latency'
import type { Verdict } from './promises'
import { coloured } from './story'

/** What a round came to, in numbers. */
export function summary(facts: Facts): string {
  const { answers, arrivals, outages, moves, instances } = facts
  const total = (status: number): number => answers.filter((answer) => answer.status === status).length
  const whileDown = arrivals.filter(({ weather }) => weather !== 'healthy')
  const probesWhileDown = whileDown.filter(({ isProbe }) => isProbe)
  const detection = outages.map(({ from, to }) => {
    const trip = moves.find(({ at, to: state }) => state === 'open' && at >= from && at < to)
    return trip === undefined ? 'not noticed' : `${Math.round(trip.at - from)} ms`
  })
  const fast = instances.map((name) => {
    const refused = answers.filter(({ instance, status }) => instance === name && status === 503)
    const took = refused.map(({ tookMs }) => tookMs)
    const [median, p99] = [percentile(took, 0.5), percentile(took, 0.99)].map(milliseconds)
    return `        by instance ${name}         ${took.length}, in the median after ${median}, p99 ${p99}`
  })
  return [
    `requests of users             ${answers.length}: ${total(200)} paid, ${answers.length - total(200)} failed`,
    `    refused fast (503)        ${total(503)}`,
    ...fast,
    `    failed (502), timed out   ${total(502)}, ${total(504)}, before the trip or as a probe`,
    `    no answer, anything else  ${answers.filter(({ status }) => ![200, 502, 503, 504].includes(status)).length}`,
    `reached it while it was down  ${whileDown.length}, of which ${probesWhileDown.length} probes`,
    `from outage to trip           ${detection.join(' and ') || 'no outage yet'}`,
    `probes                        ${probeCounts(facts)}`,
  ].join('\n')
}

export function judgement(verdicts: readonly Verdict[]): string {
  return verdicts
    .map(({ promise, holds, seen }) => {
      const mark = holds ? coloured('ok    ', 'green') : coloured('BROKEN', 'red')
      return `${mark}  ${promise}\n        ${coloured(seen, 'dim')}`
    })
    .join('\n')
}

function probeCounts({ probes, moves, mostProbes }: Facts): string {
  const verdicts = moves.filter(({ from, by }) => from === 'half-open' && by === 'here')
  const failed = verdicts.filter(({ to }) => to === 'open').length
  // A later period's fence compares greater: a cooldown's probes are those before the next one's.
  const cooldowns = moves
    .filter(({ to, by }) => to === 'open' && by === 'here')
    .map(({ fence }) => fence)
    .toSorted()
  const perCooldown = cooldowns.map((fence, index) => {
    const next = cooldowns[index + 1]
    return probes.filter((probe) => probe.fence > fence && (next === undefined || probe.fence < next)).length
  })
  const each = perCooldown.length === 0 ? '' : `; after each cooldown ${perCooldown.join(', ')}`
  return `${probes.length}, ${failed} failed${each}; at once at most ${mostProbes}`
}
