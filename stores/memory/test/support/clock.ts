export interface HandClock {
  now(): number
  /** By so many ms, backwards where below 0. */
  advance(ms: number): void
}

/** A clock that stands still but for the hand that sets it. */
export function handClock(start: number = Date.UTC(2026, 0, 1)): HandClock {
  let now = start
  return {
    now: () => now,
    advance(ms) {
      now += ms
    },
  }
}
