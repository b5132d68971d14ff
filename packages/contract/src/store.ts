import type { CacheStore } from './cache'
import type { CircuitStore, MaybePromise, WindowKind } from './circuit'
import type { LeaseStore } from './leases'
import type { LimitStore } from './limits'

/** What a store can do, read by users, by core when a policy is built, and by the conformance suite. */
export interface StoreSupports {
  readonly windows: readonly WindowKind[]
  /** Whether `subscribe` tells of swaps made elsewhere. */
  readonly push: boolean
  /** Whether other processes see the same state. */
  readonly shared: boolean
}

/** Where a fleet agrees. Each part is usable alone; a policy that needs one that is missing says so when it is built. */
export interface Store {
  readonly supports: StoreSupports
  readonly circuits: CircuitStore
  readonly limits?: LimitStore
  readonly leases?: LeaseStore
  readonly cache?: CacheStore
  /** False while its client could only queue what it is sent. */
  ready?(): boolean
  /** One direct question, for start-up checks; rejects with what is wrong. */
  ping(): MaybePromise<void>
  /** Releases what the store itself holds. The user's client stays the user's. */
  close(): Promise<void>
}
