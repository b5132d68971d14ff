/** Ends a timer; harmless when it has already fired. */
export type CancelTimer = () => void

/** Where a policy takes the time from. Tests hand in one that they turn themselves. */
export interface Clock {
  /** Milliseconds, fractions allowed, from any origin; never runs backwards. */
  now(): number
  /**
   * Calls back once, after `ms`.
   *
   * @param keepAlive whether the process is to wait for it: somebody's call hangs on it
   */
  setTimeout(callback: () => void, ms: number, keepAlive: boolean): CancelTimer
}

/** The longest delay that timers of JavaScript take; a longer one would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

const origin = performance.timeOrigin

/** Monotonic, and close to the epoch's milliseconds; a wall clock that steps does not move it. */
export const systemClock: Clock = {
  now: () => origin + performance.now(),
  setTimeout(callback, ms, keepAlive) {
    let timer: ReturnType<typeof setTimeout>
    const wait = (left: number): void => {
      const delay = Math.min(left, LONGEST_DELAY_MS)
      timer = setTimeout(() => (left > delay ? wait(left - delay) : callback()), delay)
      // At the edge a timer is a number and keeps nothing alive.
      if (!keepAlive) (timer as { unref?(): void }).unref?.()
    }
    wait(Math.max(0, ms))
    return () => clearTimeout(timer)
  },
}
