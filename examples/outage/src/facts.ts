import type { Arrival } from './dependency'
import type { Answer } from './load'
import type { Weather } from './schedule'

/** The circuit moved, as one instance saw it. Moments are of `performance.now()`. */
export interface Move {
  readonly at: number
  readonly instance: string
  readonly from: string
  readonly to: string
  readonly fence: string
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
}

export interface Outage {
  readonly from: number
  readonly to: number
  readonly weather: Weather
}

/** All that was seen in one round. */
export interface Facts {
  readonly instances: readonly string[]
  readonly outages: readonly Outage[]
  readonly moves: readonly Move[]
  readonly probes: readonly Probe[]
  readonly late: readonly Late[]
  readonly answers: readonly Answer[]
  readonly arrivals: readonly Arrival[]
  readonly mostProbes: number
  /** The states of the instances when the round ended. */
  readonly finalStates: readonly string[]
}
