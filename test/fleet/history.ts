import type { Visit } from './dependency'
import type { Period } from './journal'
import type { Status, Telling } from './reports'

/** Everything there is to judge by. Moments are epoch ms of the one clock of the machine. */
export interface History {
  /** Every period since the journal was opened, in order. */
  readonly periods: readonly Period[]
  /** Every request that reached the dependency, in order. */
  readonly visits: readonly Visit[]
  readonly tellings: readonly Telling[]
  /** Who was alive at the end, and how it saw the circuit. */
  readonly finals: ReadonlyMap<string, Status>
  readonly options: {
    readonly syncMs: number
    readonly storeTimeoutMs: number
    readonly failureRate: number
    readonly minimumCalls: number
  }
  /** In which instances could hear of a swap late, or not at all. */
  readonly deafness: readonly Deafness[]
}

export interface Deafness {
  readonly instance: string
  readonly from: number
  readonly until: number
}

/** A rule that was broken, in words. */
export type Violation = string

export type Rule = (history: History) => Violation[]

/**
 * Two looks at the same clock of the machine: Redis rounds down to the ms, and so
 * does this process. One ms each.
 */
export const ROUNDING_MS = 2
