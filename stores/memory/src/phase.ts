import { type CircuitSnapshot, type CircuitWindow, type Fence, windowSpanMs } from '@tidegate/contract'

/** The right to send a probe, held by one owner at a time. */
export interface Permit {
  readonly owner: string
  readonly until: number
}

/** What a circuit is in one period. Moments are epoch ms of the store's time. */
export type Phase = Closed | Open | HalfOpen | Isolated

interface Closed {
  readonly state: 'closed'
  /** Since when it has been closed; its trips are forgotten a window later. */
  readonly since: number
  readonly trips: number
}

interface Open {
  readonly state: 'open'
  readonly openedAt: number
  readonly probeAfter: number
  readonly trips: number
}

export interface HalfOpen {
  readonly state: 'half-open'
  readonly openedAt: number
  readonly probeAfter: number
  readonly trips: number
  readonly probeSuccesses: number
  /** Undefined while it lies free. */
  readonly permit: Permit | undefined
}

interface Isolated {
  readonly state: 'isolated'
  readonly trips: number
}

/** Open periods in a row, as of now: a circuit that stayed closed for a window starts over. */
export function presentTrips(phase: Phase, window: CircuitWindow, now: number): number {
  if (phase.state === 'closed' && now - phase.since >= windowSpanMs(window)) return 0
  return phase.trips
}

export function snapshotOf(
  phase: Phase,
  fence: Fence,
  fleet: number,
  window: CircuitWindow,
  now: number,
): CircuitSnapshot {
  const trips = presentTrips(phase, window, now)
  switch (phase.state) {
    case 'closed':
    case 'isolated':
      return { state: phase.state, fence, trips, probeSuccesses: 0, fleet, now }
    case 'open': {
      const { openedAt, probeAfter } = phase
      return { state: 'open', fence, openedAt, probeAfter, trips, probeSuccesses: 0, fleet, now }
    }
    case 'half-open': {
      const { openedAt, probeAfter, probeSuccesses, permit } = phase
      const free = {
        state: 'half-open',
        fence,
        openedAt,
        probeAfter,
        trips,
        probeSuccesses,
        fleet,
        now,
      } as const
      return permit === undefined ? free : { ...free, probe: permit }
    }
  }
}
