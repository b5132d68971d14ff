import type { WindowKind } from '@tidegate/contract'
import type { Bench } from './bench'
import type { Hook, Part } from './harness'

/**
 * What a case cannot do without: a hook of the harness, or something the store
 * supports. A part, where the case is about several.
 */
export type Need = Hook | WindowKind | Part | 'push'

export interface Case {
  /** A sentence in the present tense, with the store as its subject. */
  readonly title: string
  readonly needs: readonly Need[]
  readonly run: (bench: Bench) => Promise<void>
}

export interface Group {
  readonly title: string
  readonly cases: readonly Case[]
}

/** @param needs comes before the body, so that it is read first */
export function test(title: string, needs: readonly Need[], run: Case['run']): Case {
  return { title, needs, run }
}
