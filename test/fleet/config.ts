import type { CircuitBreakerOptions } from '@tidegate/core'

/** How an instance gets to its store; always on this machine. */
export type Way =
  | { readonly kind: 'single'; readonly port: number }
  | { readonly kind: 'sentinel'; readonly ports: readonly number[]; readonly master: string }
  | { readonly kind: 'cluster'; readonly ports: readonly number[] }

/** What of a breaker's options can be told in JSON. */
export type BreakerOptions = Omit<
  CircuitBreakerOptions,
  'store' | 'clock' | 'random' | 'isFailure' | 'isFailureResult'
>

/** Everything an instance is told when it starts. */
export interface InstanceConfig {
  readonly name: string
  readonly way: Way
  readonly prefix: string
  readonly breaker: BreakerOptions
  readonly dependencyPort: number
  readonly callers: number
  /** Between two calls of one caller, at least and at most. */
  readonly thinkMs: readonly [number, number]
  /** How long a call that is no probe is waited for. */
  readonly deadlineMs: number
  /** Whether its calls end when they are told to stop. One that does not gets its answer however late it is. */
  readonly heedsSignal: boolean
  readonly seed: number
}

const VARIABLE = 'TIDEGATE_INSTANCE'

export function environmentOf(config: InstanceConfig): Record<string, string> {
  return { [VARIABLE]: JSON.stringify(config) }
}

/** The configuration of this very process. */
export function ownConfig(): InstanceConfig {
  return JSON.parse(process.env[VARIABLE] ?? '') as InstanceConfig
}
