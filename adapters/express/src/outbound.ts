import { type Bindable, type Bound, createOutbound, lifeOf, type OutboundOptions } from '@tidegate/http'
import type { Handler } from './handlers'

declare global {
  namespace Express {
    /** For an application to say which policies it has: `interface Outbound extends BoundAll<typeof policies> {}`. */
    interface Outbound {}
    interface Request {
      outbound: RequestOutbound
    }
  }
}

/** What `req.outbound` is: what the application declared in `Express.Outbound`; any name, while it declared nothing. */
export type RequestOutbound = keyof Express.Outbound extends never
  ? Readonly<Record<string, Bound<Bindable>>>
  : Readonly<Express.Outbound>

/**
 * Gives each request the policies as `req.outbound`, bound to its life: their
 * calls end when the client goes away, and count neither as success nor as failure.
 * Mounted more than once, it adds.
 *
 * @throws OptionError naming the option, what it takes and what it got
 */
export function outbound(policies: Readonly<Record<string, Bindable>>, options?: OutboundOptions): Handler {
  const bind = createOutbound(policies, options)
  return (req, res, next) => {
    const request = req as typeof req & { outbound?: object }
    request.outbound = Object.assign(Object.create(null), request.outbound, bind(lifeOf(req, res)))
    next()
  }
}
