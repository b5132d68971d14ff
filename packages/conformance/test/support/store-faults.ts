import type { Fault } from './faults'

/** What a store may get wrong about its parts together, and the cases that must find it. */
export const STORE_FAULTS: Readonly<Record<Fault, string | readonly string[]>> = {
  'has no leases': 'has the parts that the harness says it has, and no others',
  'resets what it is told to forget': 'keeps its parts apart under one name',
}
