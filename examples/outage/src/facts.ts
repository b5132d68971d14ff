import type { Arrival } from './dependency'
import type { Answer } from './load'
import type { Weather } from './schedule'

/** The circuit moved, as one instance saw it. Moments are in ms since the epoch. */
export interface Move {
  readonly at: number
  readonly instance: string
  readonly from: string
  readonly to: string
  readonly fence: string
  /** The fence of the period that it left, as far as the instance knew. */
  readonly left: string | undefined
  readonly by: 'here' | 'peer'
}

export interface Probe {
  readonly at: number
  readonly instance: string
  readonly fence: string
}

export interface Late {
  readonly at: number
  readonly instance: string
  readonly fence: string
  readonly outcome: 'success' | 'failure'
}

export interface Outage {
  readonly from: number
  readonly to: number
  readonly weather: Weather
}

/** All that was seen in one round. */
export interface Facts {
  readonly instances: readonly string[]
  /** Those that had begun when the round ended. */
  readonly outages: readonly Outage[]
  /** When the call from before the first outage failed at last. */
  readonly stragglerFailedAt: number
  readonly moves: readonly Move[]
  readonly probes: readonly Probe[]
  readonly late: readonly Late[]
  readonly answers: readonly Answer[]
  readonly arrivals: readonly Arrival[]
  readonly mostProbes: number
  /** The states of the instances when the round ended. */
  readonly finalStates: readonly string[]
}
