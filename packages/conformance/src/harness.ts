import type { MaybePromise, Store, StoreSupports } from '@tidegate/contract'

/** What there is of a test runner: vitest, jest, mocha and node:test all fit. */
export interface Runner {
  readonly describe: (title: string, define: () => void) => unknown
  readonly it: Test
}

export interface Test {
  (title: string, run: () => MaybePromise<void>, timeoutMs?: number): unknown
  /** Where there is one, what is left out shows as skipped. */
  readonly skip?: (title: string, run: () => MaybePromise<void>) => unknown
}

/**
 * What befalls a store, and a test cannot do through the contract. Each is
 * optional; the cases that need one that is missing are left out, visibly. Each
 * gets the store of the case last, for harnesses that keep something by it. What
 * one answers is waited for, and means nothing: whatever a client's command returns will do.
 */
export interface Hooks {
  /** A short time passes by the store's clock, at least `ms`: set it forward, or wait ({@link realTime}). */
  readonly advance?: (ms: number, store: Store) => unknown
  /** Hours or weeks pass at once, for the clock and for everything that expires. */
  readonly leap?: (ms: number, store: Store) => unknown
  /** The store's clock is set by `ms`, backwards where below 0; no time passes and nothing expires. */
  readonly stepClock?: (ms: number, store: Store) => unknown
  /** The circuit is gone as by its idle lease, whatever its state. */
  readonly expire?: (name: string, store: Store) => unknown
  /** Everything is gone. */
  readonly flush?: (store: Store) => unknown
  /** Calls `write`, waits for it, and then loses what it wrote, as a failover to a replica that lags does. */
  readonly loseWrites?: (write: () => Promise<void>, store: Store) => unknown
  /** Another process' way to the same state. The suite closes it. */
  readonly peer?: (store: Store) => MaybePromise<Store>
}

export type Hook = keyof Hooks

/** What a store may consist of: the names of its fields. */
export type Part = 'circuits' | 'limits' | 'leases' | 'cache'

export const ALL_PARTS: readonly Part[] = ['circuits', 'limits', 'leases', 'cache']

/** A store, to the suite. */
export interface Harness {
  readonly name: string
  /** What the store is going to declare: the tests are laid out before there is one. */
  readonly supports: StoreSupports
  /** What the store consists of: `storeConformance` shows what is not named as left out. @default all four */
  readonly parts?: readonly Part[]
  /** A store of its own for each case; it may lie in the same place as others, whose state it then sees. */
  readonly create: () => MaybePromise<Store>
  /** Instead of `store.close()`, at the end of each case. */
  readonly dispose?: (store: Store) => MaybePromise<void>
  readonly hooks?: Hooks
  /**
   * The unit in which cases spend time, in ms: some commands in a row must be
   * answered well within it. With a clock that is set by hand it costs nothing.
   *
   * @default 100
   */
  readonly tickMs?: number
  /** How long what is pushed may be under way, in real ms. @default 2_000 */
  readonly patienceMs?: number
  /** Replays a random case that failed; its message names the seed. */
  readonly seed?: number
  /** Where it is said what was left out. @default console.info */
  readonly print?: (line: string) => void
}
