/** How the dependency behaves. */
export type Weather = 'healthy' | 'failing' | 'hanging'

export interface Spell {
  /** When it begins, in ms from the beginning of the round. */
  readonly at: number
  readonly weather: Weather
  readonly said: string
}

/**
 * One round. Two outages, of two kinds, so that the circuit is half-open in two
 * recoveries that have nothing to do with each other. Between them comes the answer
 * to a call from before the first.
 */
export const SPELLS: readonly Spell[] = [
  { at: 0, weather: 'healthy', said: 'is healthy' },
  { at: 1_500, weather: 'failing', said: 'GOES DOWN: it answers 500, or not at all' },
  { at: 4_000, weather: 'healthy', said: 'IS BACK' },
  { at: 6_800, weather: 'hanging', said: 'GOES DOWN again: it takes connections and never answers' },
  { at: 8_800, weather: 'healthy', said: 'IS BACK' },
]

/** When the call is made that hangs through the first outage, and when it fails at last. */
export const STRAGGLER = { at: 1_300, failsAt: 6_200 }

export const ROUND_MS = 11_200
