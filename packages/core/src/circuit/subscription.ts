import type { Store, Unsubscribe } from '@tidegate/contract'
import type { Mirror } from './mirror'

const abandoned = new FinalizationRegistry<Unsubscribe>((stop) => stop())

/**
 * Lets the store tell a mirror of swaps made elsewhere. Weakly: a breaker that
 * nobody uses any more is not kept by the store it listened to, and its place there
 * is given up.
 */
export function subscribe(store: Store, name: string, mirror: Mirror): Unsubscribe {
  const { circuits, supports } = store
  const ref = new WeakRef(mirror)
  try {
    // In one process the state itself is as near as any news of it, and costs no memory.
    if (!supports.shared || !supports.push || circuits.subscribe === undefined) return nothing
    const stop = circuits.subscribe(name, (snapshot) => ref.deref()?.push(snapshot))
    abandoned.register(mirror, stop, ref)
    return () => {
      abandoned.unregister(ref)
      stop()
    }
  } catch {
    // A subscription buys freshness, and nothing else is lost with it.
    return nothing
  }
}

function nothing(): void {}
