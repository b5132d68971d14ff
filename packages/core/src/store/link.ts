import type { CircuitStore } from '@tidegate/contract'

/** A way to a store. */
export interface Link {
  readonly circuits: CircuitStore
  /**
   * The answer as `read` makes it of what the store says, or undefined if there is none. Never throws, never rejects.
   *
   * @param question reads the state and changes nothing
   */
  ask<T>(
    call: () => unknown,
    read: (answer: unknown) => T,
    question: boolean,
  ): T | undefined | Promise<T | undefined>
}
