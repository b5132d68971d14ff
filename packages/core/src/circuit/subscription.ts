import type { Store, Unsubscribe } from '@tidegate/contract'
import type { Mirror } from './mirror'

const abandoned = new FinalizationRegistry<Unsubscribe>((stop) => stop())

/**
 * Lets the store tell a mirror of swaps made elsewhere. Weakly: a breaker that
 * nobody uses any more is not kept by the store it listened to, and its place there
 * is given up. A subscription buys freshness, and nothing else is lost with it.
 *
 * @returns undefined where the store could not be asked; then it is worth another try
 */
export function subscribe(store: Store, name: string, mirror: Mirror): Unsubscribe | undefined {
  const { circuits, supports } = store
  // In one process the state itself is as near as any news of it, and costs no memory.
  if (!supports.shared || !supports.push || circuits.subscribe === undefined) return nothing
  const ref = new WeakRef(mirror)
  let stop: () => void
  try {
    if (store.ready?.() === false) return undefined
    stop = quiet(circuits.subscribe(name, (snapshot) => ref.deref()?.push(snapshot)))
  } catch {
    return undefined
  }
  abandoned.register(mirror, stop, ref)
  return () => {
    abandoned.unregister(ref)
    stop()
  }
}

/** What a store hands out to be called later is no more to be trusted than what it answers. */
function quiet(stop: unknown): () => void {
  return () => {
    try {
      if (typeof stop === 'function') stop()
    } catch {
      // It is gone from here all the same.
    }
  }
}

function nothing(): void {}
