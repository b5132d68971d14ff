import type { CircuitSnapshot, CircuitState, Store, SwapAnswer, Tally, Terms } from '@tidegate/contract'

let nonces = 0

export function terms(over: Partial<Terms> = {}): Terms {
  return {
    instance: 'instance',
    nonce: `nonce-${++nonces}`,
    window: { kind: 'time', ms: 60_000 },
    cooldownMs: 1,
    leaseMs: 60_000,
    ...over,
  }
}

export function tally(seq: number, over: Partial<Tally> = {}): Tally {
  const { successes = 0, failures = 0 } = over
  return { seq, successes, failures, slow: 0, trailingFailures: successes === 0 ? failures : 0, ...over }
}

/** A name that no other test has. */
export function fresh(): string {
  return `circuit-${++nonces}`
}

/** Swaps a circuit from whatever it is, under its present fence. */
export async function swap(
  { circuits }: Store,
  name: string,
  to: CircuitState,
  over: Partial<Terms> = {},
): Promise<SwapAnswer> {
  const { state, fence } = await circuits.readState(name, terms())
  return circuits.compareAndSet(name, state, to, fence, terms(over))
}

export interface Heard {
  readonly snapshots: readonly CircuitSnapshot[]
  has(fence: string): boolean
  stop(): void
}

/** What a store tells of a circuit from now on. */
export function listen({ circuits }: Store, name: string): Heard {
  const snapshots: CircuitSnapshot[] = []
  const stop = circuits.subscribe?.(name, (snapshot) => snapshots.push(snapshot)) ?? (() => {})
  return { snapshots, has: (fence) => snapshots.some((one) => one.fence === fence), stop }
}
