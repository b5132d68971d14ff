import type { CircuitSnapshot, CircuitStore, MaybePromise } from '@tidegate/contract'
import { memoryStore } from '@tidegate/store-memory'
import { after } from '../maybe-promise'
import type { Link } from './link'

/** A fence that no period ever had, for what was decided in one that is over. */
export const NO_FENCE = '0000000000000000.never'

/**
 * A circuit that this breaker has to itself: the same machine on a store of its
 * own. Its fences are `local:<n>`, which no store takes, so that nothing decided
 * here can be written as if the fleet had agreed on it.
 *
 * @param next numbers the periods; it goes on counting from one outage to the next
 */
export function localLink(clock: { now(): number }, next: () => number): Link {
  const store = memoryStore({ maxKeys: 1, clock }).circuits
  let inside = NO_FENCE
  let outside = ''
  const outward = (snapshot: CircuitSnapshot): CircuitSnapshot => {
    if (snapshot.fence !== inside) {
      inside = snapshot.fence
      outside = `local:${next()}`
    }
    return { ...snapshot, fence: outside }
  }
  const inward = (fence: string): string => (fence === outside ? inside : NO_FENCE)
  const withOutward = <A extends { readonly snapshot: CircuitSnapshot }>(answer: MaybePromise<A>) =>
    after(answer, (value) => ({ ...value, snapshot: outward(value.snapshot) }))

  const circuits: CircuitStore = {
    readState: (name, terms) => after(store.readState(name, terms), outward),
    compareAndSet: (name, from, to, fence, terms) =>
      withOutward(store.compareAndSet(name, from, to, inward(fence), terms)),
    record: (name, fence, tally, terms) => withOutward(store.record(name, inward(fence), tally, terms)),
    forget: (name) => store.forget(name),
  }
  return { circuits, ask: (call) => call() as never }
}
