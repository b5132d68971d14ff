import type { MaybePromise } from './circuit'
import type { Fence } from './fence'

export interface LeaseRequest {
  /** Who takes the slot: unique to each holding, and the same in each delivery of the command. Of the form of a nonce. */
  readonly owner: string
  /** How many slots there are, to this caller. A whole number, at least 1. */
  readonly limit: number
  /** How long the slot is held without a renewal. Whole milliseconds, at least 1. */
  readonly leaseMs: number
}

export interface LeaseAnswer {
  readonly ok: boolean
  /** Names this holding of the slot, and is greater than that of any before it; its nonce is the owner. Empty where not `ok`. */
  readonly fence: Fence
  /** Slots that are taken now, this one included. */
  readonly inUse: number
  /** How long until the next lease runs out, if nobody releases one before, in ms; 0 where `ok`. */
  readonly retryAfterMs: number
}

/**
 * Leases: slots that a fleet shares. The slot of an owner that died is free again when
 * its lease runs out, by the store's clock, which never runs backwards for a name.
 */
export interface LeaseStore {
  /**
   * Takes a slot if fewer than `limit` are taken. Delivered again, it answers what the
   * first delivery did, as long as that holding lasts; its lease is then the longer of the two.
   */
  acquire(name: string, request: LeaseRequest): MaybePromise<LeaseAnswer>
  /** @returns whether the slot is still this owner's, under this fence, and now for `leaseMs` from now at least */
  renew(name: string, owner: string, fence: Fence, leaseMs: number): MaybePromise<boolean>
  /** Frees the slot if it is still this owner's under this fence; harmless otherwise. */
  release(name: string, owner: string, fence: Fence): MaybePromise<void>
}
