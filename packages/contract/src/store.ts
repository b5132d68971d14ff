import type { CircuitStore, MaybePromise, WindowKind } from './circuit'

/** What a store can do, read by users, by core when a policy is built, and by the conformance suite. */
export interface StoreSupports {
  readonly windows: readonly WindowKind[]
  /** Whether `subscribe` tells of swaps made elsewhere. */
  readonly push: boolean
  /** Whether other processes see the same state. */
  readonly shared: boolean
}

/** Where a fleet agrees. Each part is usable alone. */
export interface Store {
  readonly supports: StoreSupports
  readonly circuits: CircuitStore
  /** False while its client could only queue what it is sent. */
  ready?(): boolean
  /** One direct question, for start-up checks; rejects with what is wrong. */
  ping(): MaybePromise<void>
  /** Releases what the store itself holds. The user's client stays the user's. */
  close(): Promise<void>
}
