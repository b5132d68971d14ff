/** How the dependency behaves. */
export type Weather = 'healthy' | 'failing' | 'slow'

export interface Spell {
  /** When it begins, in ms from the beginning of the round. */
  readonly at: number
  readonly weather: Weather
  readonly said: string
}

/** How long a call for a user may take, and how long the dependency takes while it is slow, at least. */
export const PATIENCE_MS = 500
export const SLOW_MS = 1_000

/**
 * One round. Two outages, of two kinds, so that the circuit is half-open in two
 * recoveries that have nothing to do with each other. Between them comes the answer
 * to a call from before the first.
 */
export const SPELLS: readonly Spell[] = [
  { at: 0, weather: 'healthy', said: 'is healthy' },
  { at: 1_000, weather: 'failing', said: 'GOES DOWN: it answers 500, or not at all' },
  { at: 3_500, weather: 'healthy', said: 'IS BACK' },
  {
    at: 6_300,
    weather: 'slow',
    said: `GOES DOWN again: it takes ${SLOW_MS} ms or more, and no call may take over ${PATIENCE_MS}`,
  },
  { at: 8_700, weather: 'healthy', said: 'IS BACK' },
]

/** When the call is made that hangs through the first outage, and when it fails at last. */
export const STRAGGLER = { at: 800, failsAt: 5_900 }

export const ROUND_MS = 11_000
