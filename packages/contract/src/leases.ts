import type { MaybePromise } from './circuit'
import type { Fence } from './fence'

export interface LeaseRequest {
  /** Who takes the slot: unique to each holding, and the same in each delivery of the command. */
  readonly owner: string
  /** How many slots there are. A whole number, at least 1. */
  readonly limit: number
  /** How long the slot is held without a renewal. Whole milliseconds, at least 1. */
  readonly leaseMs: number
}

export interface LeaseAnswer {
  readonly ok: boolean
  /** Names this holding of the slot, and is greater than that of any before it; empty where there is none. */
  readonly fence: Fence
  /** Slots that are taken now. */
  readonly inUse: number
  /** How long until the next lease runs out, if nobody releases one before, in ms; 0 where `ok`. */
  readonly retryAfterMs: number
}

/** Leases: slots that a fleet shares. The slot of an owner that died is free again when its lease runs out. */
export interface LeaseStore {
  /** Delivered again, it answers what the first delivery did, as long as the lease lasts. */
  acquire(name: string, request: LeaseRequest): MaybePromise<LeaseAnswer>
  /** @returns whether the slot is still this owner's, under this fence, and now for `leaseMs` more */
  renew(name: string, owner: string, fence: Fence, leaseMs: number): MaybePromise<boolean>
  /** Frees the slot if it is still this owner's under this fence; harmless otherwise. */
  release(name: string, owner: string, fence: Fence): MaybePromise<void>
}
