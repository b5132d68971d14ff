import { OptionError } from '@tidegate/core'
import { type Bindable, type Bound, BoundPolicy } from './bound'
import type { RequestLife } from './life'
import { describe, isDuration, readOptions } from './options'

export interface OutboundOptions {
  /**
   * How long the calls of one request may take, together, in ms from when `outbound`
   * first saw it. Each gets what is left; when nothing is, none is started.
   * It ends calls, not the request. @default no limit
   */
  readonly deadlineMs?: number | undefined
}

/** The policies of a request, under the names that they were given. */
export type BoundAll<Policies> = {
  readonly [Name in keyof Policies]: Policies[Name] extends Bindable ? Bound<Policies[Name]> : never
}

/** Binds all the policies to one request. */
export type Outbound<Policies> = (life: RequestLife) => BoundAll<Policies>

/** @throws OptionError naming the option, what it takes and what it got */
export function createOutbound<Policies extends Readonly<Record<string, Bindable>>>(
  policies: Policies,
  options?: OutboundOptions,
): Outbound<Policies> {
  const { deadlineMs } = readOptions('outbound', options, { deadlineMs: isDuration })
  const named = entriesOf(policies)
  return (life) => {
    // Without a prototype: a name that comes from elsewhere finds a policy or nothing.
    const bound: Record<string, BoundPolicy> = Object.create(null)
    for (const [name, policy] of named) bound[name] = new BoundPolicy(policy, life, deadlineMs)
    return bound as unknown as BoundAll<Policies>
  }
}

function entriesOf(policies: Readonly<Record<string, Bindable>>): readonly [string, Bindable][] {
  if (typeof policies !== 'object' || policies === null || Array.isArray(policies)) {
    const takes = 'an object of policies by name'
    throw new OptionError('policies', `outbound: policies must be ${takes}, got ${describe(policies)}`)
  }
  const named = Object.entries(policies)
  for (const [name, policy] of named) {
    if (typeof (policy as Bindable | undefined | null)?.execute === 'function') continue
    throw new OptionError(name, `outbound: ${name} must be a policy, got ${describe(policy)}`)
  }
  return named
}
