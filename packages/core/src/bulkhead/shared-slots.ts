import type { LeaseAnswer, LeaseStore, MaybePromise, Store } from '@tidegate/contract'
import { isFence } from '@tidegate/contract'
import { Identity } from '../identity'
import { after } from '../maybe-promise'
import { awaitBeat, type Beating } from '../pulse'
import { checkCount, fieldsOf, unreadable } from '../store/answers'
import type { GuardSettings } from '../store/guard'
import { GuardedStore, type StoreWatch } from '../store/guarded-store'

export interface SharedSlotsSettings extends GuardSettings {
  readonly name: string
  readonly leaseMs: number
}

/** What came of asking for a slot. */
export type Taken =
  | { readonly kind: 'slot'; readonly slot: SharedSlot }
  | { readonly kind: 'full'; readonly retryAfterMs: number }
  /** The store does not say: the caller has to decide for itself. */
  | { readonly kind: 'away' }

/** A slot of the fleet's, held here. */
export interface SharedSlot {
  readonly fence: string
  /** The store says that it is somebody else's now. Told at most once, and not after `release`. */
  onLost: () => void
  release(): void
}

/**
 * The next renewal is due after this part of a lease: two may be lost, and the third still comes before its
 * end. A store has to answer, or to be given up, before the next one is due.
 */
export const RENEWALS = 4

const AWAY: Taken = { kind: 'away' }

/** Slots that a fleet shares: taken and given back one by one, renewed together while they are held. */
export class SharedSlots implements Beating {
  readonly #leases: LeaseStore
  readonly #store: GuardedStore
  readonly #settings: SharedSlotsSettings
  readonly #identity = new Identity()
  readonly #held = new Set<Held>()
  #isBeating = false
  dueAt = 0

  constructor(
    store: Store & { readonly leases: LeaseStore },
    settings: SharedSlotsSettings,
    watch: StoreWatch,
  ) {
    this.#leases = store.leases
    this.#settings = settings
    this.#store = new GuardedStore(store, settings, {
      ...watch,
      onStoreUp: () => {
        watch.onStoreUp()
        // Of what was due in the outage one renewal at most was sent, to find out whether it is over.
        this.#renewAll()
      },
    })
  }

  take(limit: number): MaybePromise<Taken> {
    const { name, leaseMs, clock } = this.#settings
    const owner = this.#identity.nextNonce()
    const askedAt = clock.now()
    let delivered: MaybePromise<LeaseAnswer> | undefined
    const acquire = (): MaybePromise<LeaseAnswer> => {
      delivered = this.#leases.acquire(name, { owner, limit, leaseMs })
      return delivered
    }
    return after(this.#store.ask(acquire, readLeaseAnswer), (answer) => {
      if (answer === undefined) {
        if (delivered !== undefined) this.#giveBackLate(owner, delivered)
        return AWAY
      }
      if (!answer.ok) return { kind: 'full', retryAfterMs: answer.retryAfterMs }
      const slot = this.#hold(owner, answer.fence)
      if (clock.now() - askedAt < leaseMs) return { kind: 'slot', slot }
      // This process stood still for so long that it may be somebody else's by now.
      slot.release()
      return this.take(limit)
    })
  }

  beat(): void {
    this.#isBeating = false
    this.#renewAll()
    this.#arrange()
  }

  #renewAll(): void {
    for (const held of this.#held) void this.#renew(held)
  }

  #hold(owner: string, fence: string): SharedSlot {
    const held: Held = { owner, fence, onLost: () => {}, release: () => this.#release(held) }
    this.#held.add(held)
    this.#arrange()
    return held
  }

  #release(held: Held): void {
    if (!this.#held.delete(held)) return
    const { name } = this.#settings
    void this.#store.ask(() => this.#leases.release(name, held.owner, held.fence), done)
  }

  /** Only a store that says so takes a slot away: while it is silent the fence is what guards its holder's work. */
  #renew(held: Held): MaybePromise<void> {
    const { name, leaseMs } = this.#settings
    const renew = () => this.#leases.renew(name, held.owner, held.fence, leaseMs)
    return after(this.#store.ask(renew, readRenewal), (answer) => {
      if (answer?.isHeld === false && this.#held.delete(held)) held.onLost()
    })
  }

  /** An answer that nobody waited for any more: whatever it brought is not wanted. */
  #giveBackLate(owner: string, delivered: MaybePromise<LeaseAnswer>): void {
    const giveBack = async (): Promise<void> => {
      const { ok, fence } = readLeaseAnswer(await delivered)
      if (ok) await this.#leases.release(this.#settings.name, owner, fence)
    }
    // Where that fails too, the slot is free when its lease runs out.
    giveBack().catch(() => {})
  }

  #arrange(): void {
    if (this.#isBeating || this.#held.size === 0) return
    const { clock, leaseMs } = this.#settings
    this.#isBeating = true
    this.dueAt = clock.now() + leaseMs / RENEWALS
    awaitBeat(clock, this)
  }
}

interface Held extends SharedSlot {
  readonly owner: string
}

function readLeaseAnswer(answer: unknown): LeaseAnswer {
  const { ok, fence, inUse, retryAfterMs } = fieldsOf(answer, 'an answer to a lease')
  if (typeof ok !== 'boolean') throw unreadable('ok', ok)
  if (ok ? !isFence(fence) : typeof fence !== 'string') throw unreadable('fence', fence)
  checkCount('inUse', inUse)
  checkCount('retryAfterMs', retryAfterMs)
  return answer as LeaseAnswer
}

function readRenewal(answer: unknown): { readonly isHeld: boolean } {
  if (typeof answer !== 'boolean') throw unreadable('a renewal', answer)
  return { isHeld: answer }
}

const DONE = {}

function done(): object {
  return DONE
}
