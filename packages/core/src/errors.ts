const BRAND = '@tidegate/error'

/** The codes of {@link TidegateError}; they are part of the interface, the messages are not. */
export type ErrorCode =
  | 'CIRCUIT_OPEN'
  | 'CIRCUIT_ISOLATED'
  | 'TIMEOUT'
  | 'BULKHEAD_FULL'
  | 'RATE_LIMITED'
  | 'LEASE_LOST'
  | 'INVALID_OPTION'
  | 'STORE_SILENT'
  | 'STORE_NOT_READY'
  | 'STORE_UNREADABLE'

/**
 * What every error of a policy is. `instanceof` looks at a mark on the error and
 * not at its constructor: an application may well load this package twice, as ESM
 * and as CJS, and an error of the one copy is an error of the other.
 */
export class TidegateError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // A class of the user's own, extending one of these, has no codes of its own.
    if (!Object.hasOwn(this, 'codes')) return super[Symbol.hasInstance](value)
    return isBranded(value) && (this.codes === undefined || this.codes.includes(value.code))
  }

  /** The codes that make an error one of this class; undefined where every code does. */
  protected static readonly codes: readonly ErrorCode[] | undefined = undefined
}

// On the prototype, so that an error does not carry it along into logs.
Object.defineProperty(TidegateError.prototype, BRAND, { value: true })
named(TidegateError, 'TidegateError')

/** Where `Error` itself has it: a stack takes its first line from there, before any field is set. */
function named(type: { readonly prototype: Error }, name: string): void {
  Object.defineProperty(type.prototype, 'name', { value: name, writable: true, configurable: true })
}

function isBranded(value: unknown): value is { code: ErrorCode } {
  return typeof value === 'object' && value !== null && (value as Record<string, unknown>)[BRAND] === true
}

/** The circuit is open, or half-open with a probe out: nothing was sent. */
export class CircuitOpenError extends TidegateError {
  static {
    named(this, 'CircuitOpenError')
  }
  protected static override readonly codes = ['CIRCUIT_OPEN'] as const
  readonly circuit: string
  /** When probing may start, in ms from now; undefined while nobody knows, as when a probe is out. */
  readonly retryAfterMs: number | undefined

  constructor(circuit: string, retryAfterMs: number | undefined) {
    super('CIRCUIT_OPEN', `circuit "${circuit}" is open`)
    this.circuit = circuit
    this.retryAfterMs = retryAfterMs
  }
}

/** An operator isolated the circuit; it stays so until `restore()`. */
export class CircuitIsolatedError extends TidegateError {
  static {
    named(this, 'CircuitIsolatedError')
  }
  protected static override readonly codes = ['CIRCUIT_ISOLATED'] as const
  readonly circuit: string

  constructor(circuit: string) {
    super('CIRCUIT_ISOLATED', `circuit "${circuit}" is isolated`)
    this.circuit = circuit
  }
}

/** All slots of a bulkhead are taken, and so are the places in its queue, or the wait there was over: nothing was sent. */
export class BulkheadFullError extends TidegateError {
  static {
    named(this, 'BulkheadFullError')
  }
  protected static override readonly codes = ['BULKHEAD_FULL'] as const
  readonly bulkhead: string
  /** How long until a slot is likely to be free, in ms, where that is known. */
  readonly retryAfterMs: number | undefined

  constructor(bulkhead: string, retryAfterMs?: number) {
    super('BULKHEAD_FULL', `bulkhead "${bulkhead}" is full`)
    this.bulkhead = bulkhead
    this.retryAfterMs = retryAfterMs
  }
}

/** A quota has too little left: nothing was sent. */
export class RateLimitedError extends TidegateError {
  static {
    named(this, 'RateLimitedError')
  }
  protected static override readonly codes = ['RATE_LIMITED'] as const
  readonly policy: string
  /** How long until the same would be allowed, if nobody else came, in ms; Infinity where it never is. */
  readonly retryAfterMs: number
  /** Whose quota: ours toward a dependency, or a client's toward us. */
  readonly scope: 'dependency' | 'client'

  constructor(policy: string, retryAfterMs: number, scope: 'dependency' | 'client') {
    const when =
      retryAfterMs < Number.POSITIVE_INFINITY
        ? `try again in ${retryAfterMs} ms`
        : 'it never holds as much as that'
    super('RATE_LIMITED', `rate limit "${policy}" is reached; ${when}`)
    this.policy = policy
    this.retryAfterMs = retryAfterMs
    this.scope = scope
  }
}

/** A slot that a fleet shares was lost while it was held: the reason with which the signal of the call aborts. */
export class LeaseLostError extends TidegateError {
  static {
    named(this, 'LeaseLostError')
  }
  protected static override readonly codes = ['LEASE_LOST'] as const
  readonly bulkhead: string

  constructor(bulkhead: string) {
    super(
      'LEASE_LOST',
      `a call lost its slot of bulkhead "${bulkhead}": its lease ran out before it was renewed`,
    )
    this.bulkhead = bulkhead
  }
}

/** Something took longer than it was given: a probe, a call's deadline. */
export class TimeoutError extends TidegateError {
  static {
    named(this, 'TimeoutError')
  }
  protected static override readonly codes = ['TIMEOUT'] as const
  readonly timeoutMs: number

  constructor(what: string, timeoutMs: number) {
    super('TIMEOUT', timeoutMs > 0 ? `${what} took longer than ${timeoutMs} ms` : `${what} had no time left`)
    this.timeoutMs = timeoutMs
  }
}

/** An option that no policy can be built from, or a call's option that no call can be made with. */
export class OptionError extends TidegateError {
  static {
    named(this, 'OptionError')
  }
  protected static override readonly codes = ['INVALID_OPTION'] as const
  readonly option: string

  constructor(option: string, message: string) {
    super('INVALID_OPTION', message)
    this.option = option
  }
}

/** What a store did instead of answering; told in `storeDown`, never thrown at a caller. */
export class StoreError extends TidegateError {
  static {
    named(this, 'StoreError')
  }
  protected static override readonly codes = ['STORE_SILENT', 'STORE_NOT_READY', 'STORE_UNREADABLE'] as const

  constructor(code: 'STORE_SILENT' | 'STORE_NOT_READY' | 'STORE_UNREADABLE', message: string) {
    super(code, message)
  }
}

const REFUSALS: readonly ErrorCode[] = ['CIRCUIT_OPEN', 'CIRCUIT_ISOLATED', 'BULKHEAD_FULL', 'RATE_LIMITED']

/** Whether a policy refused to start the call. */
export function isRefusal(error: unknown): boolean {
  return isBranded(error) && REFUSALS.includes(error.code)
}

/** Whether an error says nothing about the dependency: the call was not started, or stopped for a reason of ours. */
export function isNoEvidence(error: unknown): boolean {
  return isRefusal(error) || (isBranded(error) && error.code === 'LEASE_LOST')
}

/**
 * Builds an error without a stack. Taking the stack is most of what a rejection
 * costs, and that of a fast failure points at the breaker, which the error names.
 */
export function withoutStack<E extends Error>(build: () => E): E {
  const limit = Error.stackTraceLimit
  if (!setStackTraceLimit(0)) return build()
  try {
    return build()
  } finally {
    setStackTraceLimit(limit)
  }
}

/** @returns whether it can be set: with frozen intrinsics it cannot */
function setStackTraceLimit(limit: number): boolean {
  return Reflect.set(Error, 'stackTraceLimit', limit)
}
