import type { MaybePromise } from '@tidegate/contract'

/** Whether a value is to be waited for. Thenables of another realm or library are. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  )
}

/**
 * `next` of the value: now if it is there, else when it comes. A store in this
 * process answers at once, and then so does all that is built on it.
 */
export function after<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return isThenable(value) ? (value as Promise<T>).then(next) : next(value as T)
}

/** What `start` comes to; `end` is called when it has, whether it came to anything or threw. */
export function lastly<T>(start: () => MaybePromise<T>, end: () => void): MaybePromise<T> {
  let value: MaybePromise<T>
  try {
    value = start()
  } catch (error) {
    end()
    throw error
  }
  if (isThenable(value)) return (value as Promise<T>).finally(end)
  end()
  return value
}
