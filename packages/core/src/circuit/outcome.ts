import { isNoEvidence } from '../errors'
import type { Outcome } from './machine'

/** How deep a chain of causes is followed: errors are wrapped a few times, and a cycle must end. */
const CAUSES = 8

const TIMED_OUT = 408
const TOO_MANY_REQUESTS = 429

/**
 * Whether an error counts against the dependency. A 4xx other than 408 and 429
 * proves that it answered; what is not recognised counts.
 */
export function isFailureByDefault(error: unknown): boolean {
  let link = error
  for (let depth = 0; depth < CAUSES && typeof link === 'object' && link !== null; depth++) {
    const status = statusOf(link) ?? statusOf((link as { response?: unknown }).response)
    if (status !== undefined) return !isAnswer(status)
    link = (link as { cause?: unknown }).cause
  }
  return true
}

/** Whether a value is an answer over HTTP that says that the dependency failed. `fetch` resolves with those. */
export function isFailureResultByDefault(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const status = (value as { status?: unknown }).status
  // By its tag and not by `instanceof`: undici's Response is another class than the global one.
  return (
    typeof status === 'number' &&
    isFailureStatus(status) &&
    Object.prototype.toString.call(value) === '[object Response]'
  )
}

/** What an abort of the call says: a time limit that passed is evidence, a caller who left is not. */
export function outcomeOfAbort(reason: unknown): Outcome {
  const { name, code } = (reason ?? {}) as { name?: unknown; code?: unknown }
  return name === 'TimeoutError' || code === 'TIMEOUT' ? 'failure' : 'none'
}

export function outcomeOfError(error: unknown, isFailure: (error: unknown) => boolean): Outcome {
  if (isNoEvidence(error)) return 'none'
  // Nothing but true: a promise is truthy, and an async rule would fail every call.
  return isFailure(error) === true ? 'failure' : 'success'
}

function statusOf(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { status, statusCode } = value as { status?: unknown; statusCode?: unknown }
  if (typeof status === 'number' && isHttpStatus(status)) return status
  return typeof statusCode === 'number' && isHttpStatus(statusCode) ? statusCode : undefined
}

/** The error came with an answer that means what it says: the dependency is up, and the caller was wrong. */
function isAnswer(status: number): boolean {
  return status >= 400 && status <= 499 && !isFailureStatus(status)
}

// A library's own code is not one of HTTP.
function isHttpStatus(status: number): boolean {
  return status >= 100 && status <= 599
}

function isFailureStatus(status: number): boolean {
  return status >= 500 || status === TIMED_OUT || status === TOO_MANY_REQUESTS
}
