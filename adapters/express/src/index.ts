export type {
  Bindable,
  Bound,
  BoundAll,
  GuardOptions,
  OutboundOptions,
  ProblemsOptions,
} from '@tidegate/http'
export { circuitGuard } from './circuit-guard'
export type { ErrorHandler, Handler, Next } from './handlers'
export { outbound, type RequestOutbound } from './outbound'
export { problems } from './problems'
