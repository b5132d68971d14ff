import type { Degradation, Worth } from './visitor'

/** How the dependency is. */
export type Weather = 'up' | 'down' | 'up again'

export const WEATHERS: readonly Weather[] = ['up', 'down', 'up again']

/** An answer that a visitor got. */
export interface Visit {
  readonly weather: Weather
  readonly degradation: Degradation
  readonly worth: Worth
}

/** What was seen of a round. */
export interface Facts {
  readonly visits: readonly Visit[]
  /** Requests that reached the dependency while it was down, and probes among them. */
  readonly reachedWhileDown: number
  readonly probesWhileDown: number
}

export function count({ visits }: Facts, matching: Partial<Visit>): number {
  const entries = Object.entries(matching) as [keyof Visit, string][]
  return visits.filter((visit) => entries.every(([name, value]) => visit[name] === value)).length
}
