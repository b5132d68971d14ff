import type { CircuitStore } from '@tidegate/contract'

/** A way to a store. */
export interface Link {
  readonly circuits: CircuitStore
  /**
   * The answer as `read` makes it of what the store says, or undefined if there is none. Never throws, never rejects.
   *
   * @param isCheckIn part of the check-in with a store that is away: let through all the same
   */
  ask<T>(
    call: () => unknown,
    read: (answer: unknown) => T,
    isCheckIn: boolean,
  ): T | undefined | Promise<T | undefined>
}
