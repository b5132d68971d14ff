import { count, type Facts, WEATHERS } from './facts'
import type { Verdict } from './promises'
import { DEGRADATIONS, ROUTES } from './visitor'

/** What the visitors got, by what they asked for and how the dependency was. */
export function table(facts: Facts): string {
  const rows = DEGRADATIONS.flatMap((degradation) =>
    WEATHERS.map((weather) => {
      const counts = (['whole', 'degraded', 'failed'] as const).map((worth) =>
        String(count(facts, { degradation, weather, worth })),
      )
      return line(ROUTES[degradation], degradation, weather, counts)
    }),
  )
  return [line('route', 'degradation', 'it is', ['whole', 'degraded', 'failed']), ...rows].join('\n')
}

export function judgement(verdicts: readonly Verdict[]): string {
  return verdicts
    .map(({ promise, holds, seen }) => `${holds ? 'ok    ' : 'BROKEN'}  ${promise}\n        ${seen}`)
    .join('\n')
}

function line(route: string, degradation: string, weather: string, counts: readonly string[]): string {
  const cells = counts.map((text) => text.padStart(8))
  return `${route.padEnd(15)}${degradation.padEnd(13)}${weather.padEnd(9)}${cells.join('  ')}`
}
