import type { Group } from './case'
import { cache } from './cases/cache'
import { circuits } from './cases/circuits'
import { leases } from './cases/leases'
import { limits } from './cases/limits'
import { together } from './cases/together'
import type { Part } from './harness'

/** What is asked of each part of a store. */
export const PARTS: Readonly<Record<Part, readonly Group[]>> = { circuits, limits, leases, cache }

/** What is asked of the parts of one store together. */
export const TOGETHER: readonly Group[] = [together]
