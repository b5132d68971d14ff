/** When this instance may probe, and where its span ends. Moments of its own clock. */
export interface SpreadTurn {
  readonly probeAt: number
  readonly spanEndsAt: number
}

/**
 * An instance's next turn to probe while nobody can agree on a prober: a random
 * moment in each span of fleet x cooldown, so that the fleet as a whole probes
 * about once per cooldown and hardly ever together. Never sooner than a cooldown
 * from now; so an instance that is alone probes once per cooldown.
 *
 * @param spanStartsAt the end of the span before, or now where there was none
 * @param random from 0 to below 1
 */
export function nextTurn(
  now: number,
  spanStartsAt: number,
  fleet: number,
  cooldownMs: number,
  random: number,
): SpreadTurn {
  const span = Math.max(1, fleet) * cooldownMs
  // After a long silence the next span begins now, not in the past.
  const start = Math.max(spanStartsAt, now - span)
  return { probeAt: Math.max(now + cooldownMs, start + random * span), spanEndsAt: start + span }
}
