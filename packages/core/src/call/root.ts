import type { Clock } from '../clock'
import { OptionError, TimeoutError } from '../errors'
import { describe } from '../options'
import type { ExecuteOptions } from '../policy'
import { deadlinesOf } from './deadlines'
import { Call, Scope } from './scope'
import { follow } from './signals'

const OPTIONS: Readonly<Record<keyof ExecuteOptions, true>> = {
  signal: true,
  deadlineMs: true,
  key: true,
  correlationId: true,
  metadata: true,
}

/**
 * Runs something within the limits of its caller: it ends when the caller goes away
 * or the deadline passes, whether or not what runs listens.
 *
 * @throws OptionError, by rejecting, naming the option, what it takes and what it got
 * @throws TimeoutError, by rejecting, when the deadline has passed
 */
export function runFor<T>(
  name: string,
  clock: Clock,
  options: ExecuteOptions | undefined,
  run: (scope: Scope) => Promise<T>,
  args?: readonly unknown[],
): Promise<T> {
  if (options === undefined) {
    return run(Scope.root(new Call(undefined, undefined, undefined, args), false))
  }
  try {
    checkCall(options)
  } catch (error) {
    return Promise.reject(error)
  }
  const call = new Call(options.metadata, options.key, options.correlationId)
  return isBounded(options) ? runWithin(name, clock, options, call, run) : run(Scope.root(call, false))
}

function isBounded({ signal, deadlineMs }: ExecuteOptions): boolean {
  return signal !== undefined || deadlineMs !== undefined
}

async function runWithin<T>(
  name: string,
  clock: Clock,
  { signal, deadlineMs }: ExecuteOptions,
  call: Call,
  run: (scope: Scope) => Promise<T>,
): Promise<T> {
  if (signal?.aborted === true) throw signal.reason
  if (deadlineMs !== undefined && deadlineMs <= 0) throw new TimeoutError(`a call of "${name}"`, 0)
  const isLimited = deadlineMs !== undefined && deadlineMs < Number.POSITIVE_INFINITY
  const now = isLimited ? clock.now() : 0
  const scope = Scope.root(call, true, isLimited ? now + deadlineMs : Number.POSITIVE_INFINITY, clock)
  const unfollow = signal && follow(signal, () => scope.abort(signal.reason))
  const deadlines = deadlinesOf(clock)
  const expire = (): void => scope.abort(new TimeoutError(`a call of "${name}"`, deadlineMs ?? 0))
  const deadline = isLimited ? deadlines.set(now, deadlineMs, expire) : undefined
  try {
    return await scope.race(() => run(scope))
  } finally {
    unfollow?.()
    if (deadline !== undefined) deadlines.clear(deadline)
  }
}

/** @throws TypeError */
export function checkFunction(method: string, fn: unknown): void {
  if (typeof fn !== 'function')
    throw new TypeError(`${method}: a function must be given, got ${describe(fn)}`)
}

/** @throws OptionError naming the option, what it takes and what it got */
function checkCall(options: ExecuteOptions): void {
  if (typeof options !== 'object' || options === null) throw refused('options', 'an object', options)
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(OPTIONS, name)) continue
    const names = Object.keys(OPTIONS).join(', ')
    throw new OptionError(name, `execute: there is no option ${name}; there are ${names}`)
  }
  const { signal, deadlineMs, key, correlationId } = options
  if (deadlineMs !== undefined && (typeof deadlineMs !== 'number' || Number.isNaN(deadlineMs))) {
    throw refused('deadlineMs', 'a number of milliseconds from now', deadlineMs)
  }
  // By its structure: a signal of another realm is one.
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.addEventListener !== 'function') {
    throw refused('signal', 'an AbortSignal', signal)
  }
  for (const [name, value] of [
    ['key', key],
    ['correlationId', correlationId],
  ] as const) {
    if (value !== undefined && typeof value !== 'string') throw refused(name, 'a string', value)
  }
}

function refused(option: string, takes: string, got: unknown): OptionError {
  return new OptionError(option, `execute: ${option} must be ${takes}, got ${describe(got)}`)
}
