import { type ErrorCode, TidegateError } from '@tidegate/core'

type Status = 429 | 503 | 504

/** A problem's title is its status' own phrase: what `about:blank` asks for (RFC 9457, 4.2.1). */
export const TITLES: Readonly<Record<Status, string>> = {
  429: 'Too Many Requests',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** The longest delay that recipients must be able to read (RFC 9111, 1.2.2). */
const LONGEST_DELAY_S = 2 ** 31 - 1

/** What a policy's error comes to as an answer of HTTP. */
export interface Problem {
  readonly status: Status
  readonly code: ErrorCode
  /** In whole seconds. */
  readonly retryAfter: number | undefined
  /** The name of the circuit, for those who ask to have it shown. */
  readonly circuit: string | undefined
}

/**
 * The problem that an error of a policy is; undefined for every other error.
 *
 * Only the error itself is looked at, not its `cause`: whoever wraps an error
 * says what it means from there on, often with a status of his own, and an answer
 * made from what lies beneath would overrule him.
 */
export function problemOf(error: unknown): Problem | undefined {
  if (!(error instanceof TidegateError)) return undefined
  const { code } = error
  const { retryAfterMs, scope, circuit } = error as {
    retryAfterMs?: unknown
    scope?: unknown
    circuit?: unknown
  }
  const status = statusOf(code, scope)
  if (status === undefined) return undefined
  return {
    status,
    code,
    retryAfter: secondsOf(retryAfterMs),
    circuit: typeof circuit === 'string' ? circuit : undefined,
  }
}

function statusOf(code: ErrorCode, scope: unknown): Status | undefined {
  switch (code) {
    case 'CIRCUIT_OPEN':
    case 'CIRCUIT_ISOLATED':
    case 'BULKHEAD_FULL':
      return 503
    case 'RATE_LIMITED':
      // A limit of ours on a dependency is not the client's fault.
      return scope === 'client' ? 429 : 503
    case 'TIMEOUT':
      return 504
    default:
      // A wrong option or a store's error is a fault of the application, for its own error handling.
      return undefined
  }
}

/** Rounded up, or the client is back before it may; and not 0, which would mean at once. */
function secondsOf(ms: unknown): number | undefined {
  if (typeof ms !== 'number' || !Number.isFinite(ms)) return undefined
  return Math.min(Math.max(1, Math.ceil(ms / 1_000)), LONGEST_DELAY_S)
}
