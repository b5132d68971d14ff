import type * as generated from './scripts.generated'

/** All that a store on Redis sends; a test may bring its own, with another clock. */
export type Scripts = typeof generated
