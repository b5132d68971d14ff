import type { CircuitState, MaybePromise } from '@tidegate/contract'
import { after } from '../maybe-promise'
import type { Mirror } from './mirror'

export type Command = 'isolate' | 'restore' | 'reset'

/** How far a switch reached: the whole fleet, or so far this instance alone, to be replayed when the store is back. */
export type Reach = 'fleet' | 'pending'

/** What operators asked of a circuit and the store has not got yet. */
interface Order {
  /** To be isolated, or to be so no more; undefined where nothing was said. */
  readonly isolated: boolean | undefined
  /** To be closed, its counts forgotten. */
  readonly reset: boolean
}

/** How often a switch that loses is tried again at once: each loss means that somebody else moved the circuit. */
const ATTEMPTS = 8

/** An operator's switches, kept until the store has them. The last switch wins. */
export class Switches {
  #order: Order | undefined
  #holdsHere = false

  get isPending(): boolean {
    return this.#order !== undefined
  }

  /** Whether the circuit is isolated here, although the store does not know of it yet. */
  get isolates(): boolean {
    return this.#holdsHere && this.#order?.isolated === true
  }

  /** The store cannot be told now: what was ordered holds here meanwhile. */
  holdHere(): void {
    this.#holdsHere = true
  }

  add(command: Command): void {
    const { isolated, reset } = this.#order ?? { isolated: undefined, reset: false }
    if (command === 'isolate') this.#order = { isolated: true, reset: false }
    else if (command === 'restore') this.#order = { isolated: false, reset }
    // A reset does not leave isolation, and so does not call off one that is to come.
    else this.#order = { isolated, reset: reset || isolated !== true }
  }

  /** Where a circuit that is in `state` is to go; undefined where it is there already. */
  targetFrom(state: CircuitState): CircuitState | undefined {
    const order = this.#order
    if (order?.isolated === true) return state === 'isolated' ? undefined : 'isolated'
    if (state === 'isolated') return order?.isolated === false ? 'closed' : undefined
    return order?.reset === true ? 'closed' : undefined
  }

  /** Reads how things are, and takes them where they are to go. */
  carryOut(mirror: Mirror): MaybePromise<Reach> {
    return after(mirror.read(), (isAnswered) => (isAnswered ? this.#attempt(mirror, ATTEMPTS) : 'pending'))
  }

  #attempt(mirror: Mirror, left: number): MaybePromise<Reach> {
    const order = this.#order
    const { snapshot } = mirror
    if (order === undefined) return 'fleet'
    if (snapshot === undefined || left === 0) return 'pending'
    const to = this.targetFrom(snapshot.state)
    if (to === undefined) return this.#done()
    return after(mirror.swap(snapshot.state, to, snapshot.fence, {}), (landed) => {
      if (landed === undefined) return 'pending'
      // Another switch may have come while this one was on its way.
      return landed && this.#order === order ? this.#done() : this.#attempt(mirror, left - 1)
    })
  }

  #done(): Reach {
    this.#order = undefined
    this.#holdsHere = false
    return 'fleet'
  }
}
