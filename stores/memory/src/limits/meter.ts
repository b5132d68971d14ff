import type { LimitAlgorithm, Quota } from '@tidegate/contract'
import { FixedWindow } from './fixed-window'
import { Gcra } from './gcra'
import { SlidingWindow } from './sliding-window'

/**
 * What was consumed of one quota. All moments are whole epoch ms, never before
 * those given before; the quota is of the algorithm and the window that it was made for.
 */
export interface Meter {
  /** From when on it is as good as new. */
  readonly emptyAt: number
  /** How long until `cost` fits, if nobody came meanwhile: 0 where it fits, Infinity where it never does. */
  waitMs(quota: Quota, cost: number, now: number): number
  remaining(quota: Quota, now: number): number
  /** How long until nothing of it is consumed. */
  resetMs(quota: Quota, now: number): number
  /** Forgets what time has made up for; to be called before what is consumed changes. */
  drain(quota: Quota, now: number): void
  consume(quota: Quota, cost: number, now: number): void
  /** What was consumed at `at`, less than a window ago, cost `more` than was said; less where below 0. */
  correct(quota: Quota, more: number, at: number, now: number): void
}

export function newMeter(algorithm: LimitAlgorithm): Meter {
  switch (algorithm) {
    case 'gcra':
      return new Gcra()
    case 'sliding-window':
      return new SlidingWindow()
    case 'fixed-window':
      return new FixedWindow()
  }
}

/** To ask about what nothing was consumed of, without making a meter for it. */
export const UNUSED: Readonly<Record<LimitAlgorithm, Meter>> = {
  gcra: newMeter('gcra'),
  'sliding-window': newMeter('sliding-window'),
  'fixed-window': newMeter('fixed-window'),
}
