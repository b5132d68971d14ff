import type { Facts } from './facts'
import type { Verdict } from './promises'

const useColour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined

export type Colour = 'red' | 'green' | 'yellow' | 'dim'

const CODES: Readonly<Record<Colour, string>> = { red: '31', green: '32', yellow: '33', dim: '2' }

function coloured(text: string, colour: Colour): string {
  return useColour ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text
}

/** Prints what happens, one line each, with the time since the round began. */
export class Story {
  readonly #start: number

  constructor(start: number) {
    this.#start = start
  }

  tell(who: string, what: string, colour?: Colour): void {
    const seconds = ((performance.now() - this.#start) / 1_000).toFixed(2).padStart(6)
    const line = `${seconds} s  ${who.padEnd(10)}  ${what}`
    console.log(colour === undefined ? line : coloured(line, colour))
  }
}

export function summary(facts: Facts): string {
  const { answers, arrivals, outages, probes, moves, instances } = facts
  const total = (status: number): number => answers.filter((answer) => answer.status === status).length
  const whileDown = arrivals.filter(({ weather }) => weather !== 'healthy')
  const detection = outages.map(({ from, to }) => {
    const trip = moves.find(({ at, to: state }) => state === 'open' && at >= from && at < to)
    return trip === undefined ? 'never' : `${Math.round(trip.at - from)} ms`
  })
  const failed = answers.length - total(200)
  const fast = instances.map((name) => {
    const took = answers.filter(({ instance, status }) => instance === name && status === 503)
    return `${name} ${milliseconds(took.map(({ tookMs }) => tookMs))}`
  })
  return [
    `requests of users             ${answers.length}: ${total(200)} paid, ${failed} failed`,
    `    refused fast (503)        ${total(503)}, in the median after ${fast.join(', ')}`,
    `    let down (502, 504)       ${total(502) + total(504)}, before the trip or as a probe`,
    `reached it while it was down  ${whileDown.length}, of which ${whileDown.filter(({ isProbe }) => isProbe).length} probes`,
    `from outage to trip           ${detection.join(' and ')}`,
    `probes                        ${probes.length}`,
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

function milliseconds(all: readonly number[]): string {
  const median = all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)]
  return median === undefined ? 'never' : `${median.toFixed(1)} ms`
}
