import type { LeaseAnswer, LeaseRequest, LeaseStore } from '@tidegate/contract'
import { ConformanceError, same } from './assertion'
import type { Bench } from './bench'

/** Too long for a lease to run out during a case that does not wait for it. */
const LONG_MS = 3_600_000

/** A slot that was taken, and all that its owner needs to keep it. */
export interface Holding {
  readonly owner: string
  readonly fence: string
}

/** Slots of one name, as owners in several processes see them: where there are peers, commands take turns. */
export class LeasedName {
  readonly name: string
  readonly #bench: Bench

  constructor(bench: Bench, name: string = bench.name) {
    this.name = name
    this.#bench = bench
  }

  /** By an owner of its own, for long, and of two slots, unless the case says otherwise. */
  async acquire(over: Partial<LeaseRequest> = {}): Promise<LeaseAnswer & Holding> {
    const request = { owner: this.#bench.unique(), limit: 2, leaseMs: LONG_MS, ...over }
    return { ...(await this.#leases().acquire(this.name, request)), owner: request.owner }
  }

  /** Acquires a slot that has to be free. */
  async take(over: Partial<LeaseRequest> = {}): Promise<LeaseAnswer & Holding> {
    const answer = await this.acquire(over)
    same(answer.ok, true, 'a slot is acquired')
    return answer
  }

  /** Asks for a slot where none may be free. */
  async overask(over: Partial<LeaseRequest> = {}): Promise<LeaseAnswer> {
    const answer = await this.acquire(over)
    same(answer.ok, false, 'a slot is acquired')
    return answer
  }

  async renew({ owner, fence }: Holding, leaseMs: number = LONG_MS): Promise<boolean> {
    return this.#leases().renew(this.name, owner, fence, leaseMs)
  }

  async release({ owner, fence }: Holding): Promise<void> {
    await this.#leases().release(this.name, owner, fence)
  }

  #leases(): LeaseStore {
    const { leases } = this.#bench.turn()
    if (leases === undefined) throw new ConformanceError('the leases of the store', 'an object', leases)
    return leases
  }
}
