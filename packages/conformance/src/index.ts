export { ConformanceError } from './assertion'
export type { Harness, Hook, Hooks, Runner, Test } from './harness'
export { circuitConformance, type LeftOut, leftOut, realTime } from './suite'
