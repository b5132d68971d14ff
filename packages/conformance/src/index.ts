export { ConformanceError } from './assertion'
export type { Harness, Hook, Hooks, Part, Runner, Test } from './harness'
export type { LeftOut } from './lay-out'
export {
  cacheConformance,
  circuitConformance,
  leaseConformance,
  leftOut,
  limitConformance,
  realTime,
  storeConformance,
} from './suite'
