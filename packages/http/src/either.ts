import { follow } from '@tidegate/core'

/** A signal that must be let go of, or those that it follows would keep it. */
export interface LinkedSignal {
  readonly signal: AbortSignal
  end(): void
}

/**
 * A signal that aborts when either of two does, with that one's reason. Not
 * `AbortSignal.any`: up to Node.js 20, what that makes stays with a signal that lives as
 * long as the process.
 */
export function either(first: AbortSignal, second: AbortSignal): LinkedSignal {
  const controller = new AbortController()
  const stops = [first, second].map((signal) => follow(signal, () => controller.abort(signal.reason)))
  const aborted = [first, second].find((signal) => signal.aborted)
  if (aborted !== undefined) controller.abort(aborted.reason)
  return {
    signal: controller.signal,
    end: () => {
      for (const stop of stops) stop()
    },
  }
}
