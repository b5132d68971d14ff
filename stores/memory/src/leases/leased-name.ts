import type { Fence } from '@tidegate/contract'
import { Schedule, type Scheduled } from '../schedule'

/** One holding of a slot; due when its lease runs out. */
interface Holding extends Scheduled {
  readonly owner: string
  readonly fence: Fence
}

/** The slots of one name that are taken. Due, to those who look for room, when the first of them may be free. */
export class LeasedName implements Scheduled {
  readonly name: string
  due: number = Number.POSITIVE_INFINITY
  place = -1
  readonly #holdings = new Map<string, Holding>()
  readonly #leases = new Schedule<Holding>()

  constructor(name: string) {
    this.name = name
  }

  get inUse(): number {
    return this.#holdings.size
  }

  /** When the next lease runs out. */
  get nextFree(): number {
    return this.#leases.first?.due ?? Number.POSITIVE_INFINITY
  }

  /** The fence under which the owner holds a slot; undefined where it holds none. */
  fenceOf(owner: string): Fence | undefined {
    return this.#holdings.get(owner)?.fence
  }

  take(owner: string, fence: Fence, until: number): void {
    const holding: Holding = { owner, fence, due: until, place: -1 }
    this.#holdings.set(owner, holding)
    this.#leases.put(holding, until)
  }

  /** Makes a lease longer, never shorter. */
  extend(owner: string, until: number): void {
    const holding = this.#holdings.get(owner)
    if (holding && until > holding.due) this.#leases.put(holding, until)
  }

  free(owner: string): void {
    const holding = this.#holdings.get(owner)
    if (holding === undefined) return
    this.#holdings.delete(owner)
    this.#leases.delete(holding)
  }

  /** Frees the slots whose leases ran out. */
  lapse(now: number): void {
    for (let first = this.#leases.first; first && first.due <= now; first = this.#leases.first) {
      this.free(first.owner)
    }
  }
}
