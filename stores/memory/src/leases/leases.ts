import {
  checkFence,
  checkLeaseMs,
  checkLeaseRequest,
  checkName,
  checkOwner,
  type Fence,
  type LeaseAnswer,
  type LeaseRequest,
  type LeaseStore,
} from '@tidegate/contract'
import { Schedule } from '../schedule'
import { StoreFullError } from '../store-full-error'
import type { Time } from '../time'
import { LeasedName } from './leased-name'

/**
 * Leases in this process' memory. A name is there while a slot of it is taken, for
 * fences are minted over all names, and grow without what was known of this one.
 */
export class MemoryLeases implements LeaseStore {
  readonly #maxKeys: number
  readonly #time: Time
  readonly #names = new Map<string, LeasedName>()
  /** By when a lease of theirs may have run out; never later than that. */
  readonly #lapses = new Schedule<LeasedName>()

  constructor(maxKeys: number, time: Time) {
    this.#maxKeys = maxKeys
    this.#time = time
  }

  acquire(name: string, request: LeaseRequest): LeaseAnswer {
    checkName(name)
    checkLeaseRequest(request)
    const { owner, limit, leaseMs } = request
    const moment = this.#time.now()
    const now = Math.floor(moment)
    const leased = this.#present(name, now)
    const held = leased?.fenceOf(owner)
    if (leased && held !== undefined) {
      leased.extend(owner, now + leaseMs)
      return { ok: true, fence: held, inUse: leased.inUse, retryAfterMs: 0 }
    }
    if (leased && leased.inUse >= limit) {
      return { ok: false, fence: '', inUse: leased.inUse, retryAfterMs: leased.nextFree - now }
    }
    const lender = leased ?? this.#add(name, now)
    const fence = this.#time.mint(moment, owner)
    lender.take(owner, fence, now + leaseMs)
    // A name that is looked at too early is put back; one that is looked at too late would deny others its room.
    if (lender.nextFree < lender.due) this.#lapses.put(lender, lender.nextFree)
    return { ok: true, fence, inUse: lender.inUse, retryAfterMs: 0 }
  }

  renew(name: string, owner: string, fence: Fence, leaseMs: number): boolean {
    checkName(name)
    checkOwner(owner)
    checkFence(fence)
    checkLeaseMs(leaseMs)
    const now = this.#time.wholeMs()
    const leased = this.#present(name, now)
    if (leased?.fenceOf(owner) !== fence) return false
    leased.extend(owner, now + leaseMs)
    return true
  }

  release(name: string, owner: string, fence: Fence): void {
    checkName(name)
    checkOwner(owner)
    checkFence(fence)
    const leased = this.#present(name, this.#time.wholeMs())
    if (leased?.fenceOf(owner) !== fence) return
    leased.free(owner)
    this.#dropIfFree(leased)
  }

  close(): void {
    this.#names.clear()
    this.#lapses.clear()
  }

  /** The name with those of its slots that are taken now; undefined where none is. */
  #present(name: string, now: number): LeasedName | undefined {
    const leased = this.#names.get(name)
    leased?.lapse(now)
    return leased && !this.#dropIfFree(leased) ? leased : undefined
  }

  #add(name: string, now: number): LeasedName {
    if (this.#names.size >= this.#maxKeys) this.#makeRoom(now)
    const leased = new LeasedName(name)
    this.#names.set(name, leased)
    return leased
  }

  #makeRoom(now: number): void {
    for (let first = this.#lapses.first; first && first.due <= now; first = this.#lapses.first) {
      first.lapse(now)
      if (!this.#dropIfFree(first)) this.#lapses.put(first, first.nextFree)
    }
    if (this.#names.size < this.#maxKeys) return
    throw new StoreFullError(
      this.#maxKeys,
      'names have slots that are taken',
      'release slots that nobody needs',
    )
  }

  #dropIfFree(leased: LeasedName): boolean {
    if (leased.inUse > 0) return false
    this.#names.delete(leased.name)
    this.#lapses.delete(leased)
    return true
  }
}
