import type { CircuitWindow, Tally, WindowCounters } from '@tidegate/contract'
import { ConsecutiveWindow } from './consecutive-window'
import { CountWindow } from './count-window'
import { TimeWindow } from './time-window'

/** Counts outcomes in one shape of window. It is dropped with its period. */
export interface Counting {
  readonly shape: CircuitWindow
  add(tally: Tally, instance: string, now: number): void
  counters(now: number): WindowCounters
}

const NOTHING_COUNTED: WindowCounters = {
  successes: 0,
  failures: 0,
  slow: 0,
  consecutiveFailures: 0,
  reporters: 0,
}

/** Deploys that overlap; a shape beyond these takes the place of the longest unused. */
const MAX_SHAPES = 4

/**
 * The windows of one circuit, the longest unused first.
 *
 * While a deploy rolls, instances with the old options and with the new ones
 * record to one circuit. To start over at each change of shape would leave the
 * circuit without counts for as long as the two alternate, and so unable to open;
 * to stay with the first shape would keep the old options for the rest of the
 * period. So each shape that is asked for counts every tally from then on, and
 * each instance is answered in its own.
 */
export type Windows = readonly Counting[]

/** The windows with the one of this shape among them; empty where nobody asked for it yet. */
export function withShape(windows: Windows, shape: CircuitWindow): Windows {
  const last = windows.at(-1)
  if (last !== undefined && sameShape(last.shape, shape)) return windows
  const present = windows.find((window) => sameShape(window.shape, shape))
  const others = windows.filter((window) => window !== present)
  return [...others, present ?? emptyWindow(shape)].slice(-MAX_SHAPES)
}

export function countersOf(windows: Windows, shape: CircuitWindow, now: number): WindowCounters {
  return windows.find((window) => sameShape(window.shape, shape))?.counters(now) ?? NOTHING_COUNTED
}

function emptyWindow(shape: CircuitWindow): Counting {
  switch (shape.kind) {
    case 'time':
      return new TimeWindow(shape.ms)
    case 'consecutive':
      return new ConsecutiveWindow()
    case 'count':
      return new CountWindow(shape.calls)
  }
}

function sameShape(a: CircuitWindow, b: CircuitWindow): boolean {
  if (a.kind === 'time') return b.kind === 'time' && a.ms === b.ms
  if (a.kind === 'count') return b.kind === 'count' && a.calls === b.calls
  return b.kind === 'consecutive'
}
