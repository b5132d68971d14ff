export { type Answer, REPLACED_HEADERS } from './answer'
export type { Bindable, Bound } from './bound'
export { ClientGoneError } from './client-gone'
export { createGuard, type Guard, type Guardable, type GuardOptions } from './guard'
export { lifeOf, RequestLife } from './life'
export { type BoundAll, createOutbound, type Outbound, type OutboundOptions } from './outbound'
export {
  createProblems,
  type ErrorSituation,
  type ErrorVerdict,
  type Problems,
  type ProblemsOptions,
} from './problems'
