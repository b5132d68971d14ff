import { createGuard, type Guardable, type GuardOptions } from '@tidegate/http'
import type { Handler } from './handlers'
import { write } from './write'

/**
 * Answers 503 with `Retry-After` while a circuit is open, before any work. Lets
 * requests through once probing may start, or nobody could probe.
 *
 * @throws OptionError naming the option, what it takes and what it got
 */
export function circuitGuard(policy: Guardable, options?: GuardOptions): Handler {
  const guard = createGuard(policy, options)
  return (req, res, next) => {
    const answer = guard(req.headers.accept)
    if (answer === undefined) next()
    else write(res, answer)
  }
}
