type Listener = () => void

const followers = new WeakMap<AbortSignal, Set<Listener>>()

/**
 * Calls back when a signal aborts, or at once if it has, until told to stop. However many calls follow
 * one signal, it carries one listener, and none once the last of them stopped: a
 * signal that lives as long as the process must not grow with its calls.
 *
 * @returns stops following
 */
export function follow(signal: AbortSignal, listener: Listener): () => void {
  if (signal.aborted) {
    listener()
    return () => {}
  }
  let listeners = followers.get(signal)
  if (listeners === undefined) {
    listeners = new Set()
    signal.addEventListener('abort', onAbort)
    followers.set(signal, listeners)
  }
  listeners.add(listener)
  const joined = listeners
  return () => {
    joined.delete(listener)
    if (joined.size === 0 && followers.get(signal) === joined) {
      followers.delete(signal)
      signal.removeEventListener('abort', onAbort)
    }
  }
}

function onAbort(this: AbortSignal): void {
  const listeners = followers.get(this)
  followers.delete(this)
  this.removeEventListener('abort', onAbort)
  for (const listener of listeners ?? []) listener()
}
