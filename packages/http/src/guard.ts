import { OptionError, type TidegateError } from '@tidegate/core'
import { type Answer, answerTo } from './answer'
import { describe, isFlag, readOptions } from './options'
import { problemOf } from './problem'

/** What can be guarded by: a policy that knows beforehand that it would refuse. */
export interface Guardable {
  /** The error a call would be rejected with now; undefined from when probing may start, or nobody would probe. */
  rejection(): TidegateError | undefined
}

export interface GuardOptions {
  /** Whether the JSON body names the circuit that is open. @default false */
  readonly reveal?: boolean | undefined
}

/** The answer for a request that is not to go on; undefined for one that is. */
export type Guard = (accept: string | undefined) => Answer | undefined

/**
 * Takes no permit: of the requests let through once probing may start, the policy
 * itself picks the one that probes.
 *
 * @throws OptionError naming the option, what it takes and what it got
 */
export function createGuard(policy: Guardable, options?: GuardOptions): Guard {
  if (typeof (policy as Guardable | undefined | null)?.rejection !== 'function') {
    throw new OptionError('policy', `circuitGuard: policy must be a circuit breaker, got ${describe(policy)}`)
  }
  const { reveal = false } = readOptions('circuitGuard', options, { reveal: isFlag })
  return (accept) => {
    const problem = problemOf(policy.rejection())
    return problem === undefined ? undefined : answerTo(problem, accept, reveal)
  }
}
