/** How the waits before attempts grow. */
export interface DelayRule {
  readonly backoff: 'constant' | 'exponential' | 'decorrelated'
  readonly jitter: 'full' | 'none'
  readonly baseDelayMs: number
  readonly maxDelayMs: number
}

/** How often a wait doubles at most: by then it is longer than any bound. */
const MAX_DOUBLINGS = 40

/**
 * How long to wait before the next attempt, in ms. After the AWS Architecture Blog,
 * "Exponential Backoff And Jitter" (2015):
 *
 * - exponential: min(max, base x 2^(attempt - 1)); with full jitter anything from 0 to that.
 * - decorrelated: min(max, anything from base to three times the wait before).
 * - constant: base; with full jitter anything from 0 to that.
 *
 * @param attempt the one that failed, from 1 on
 * @param previousMs the wait before it, 0 for none
 * @param random from 0 to below 1
 */
export function delayAfter(rule: DelayRule, attempt: number, previousMs: number, random: number): number {
  const { backoff, jitter, baseDelayMs, maxDelayMs } = rule
  if (backoff === 'decorrelated') {
    const widest = Math.max(baseDelayMs, 3 * (previousMs === 0 ? baseDelayMs : previousMs))
    return Math.round(Math.min(maxDelayMs, baseDelayMs + random * (widest - baseDelayMs)))
  }
  const doublings = backoff === 'constant' ? 0 : Math.min(attempt - 1, MAX_DOUBLINGS)
  const full = Math.min(maxDelayMs, baseDelayMs * 2 ** doublings)
  return Math.round(jitter === 'full' ? random * full : full)
}
