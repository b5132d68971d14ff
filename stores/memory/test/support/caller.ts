import type { CircuitSnapshot, CircuitStore, Store, SwapAnswer, Tally, Terms } from '@tidegate/contract'

let nonces = 0

export function terms(over: Partial<Terms> = {}): Terms {
  return {
    instance: 'instance',
    nonce: `nonce-${++nonces}`,
    window: { kind: 'time', ms: 60_000 },
    cooldownMs: 1_000,
    leaseMs: 1_000,
    ...over,
  }
}

export function tally(seq: number, over: Partial<Tally> = {}): Tally {
  const { successes = 0, failures = 0 } = over
  return { seq, successes, failures, slow: 0, trailingFailures: successes === 0 ? failures : 0, ...over }
}

/** The circuits of a memory store, which answer at once. */
export interface PromptCircuits extends CircuitStore {
  readState(...args: Parameters<CircuitStore['readState']>): CircuitSnapshot
  compareAndSet(...args: Parameters<CircuitStore['compareAndSet']>): SwapAnswer
  record(...args: Parameters<CircuitStore['record']>): Awaited<ReturnType<CircuitStore['record']>>
  subscribe(...args: Parameters<NonNullable<CircuitStore['subscribe']>>): () => void
}

export function circuitsOf(store: Store): PromptCircuits {
  return store.circuits as PromptCircuits
}

/** Brings a circuit, closed or not there yet, to another state. */
export function bring(circuits: PromptCircuits, name: string, to: 'open' | 'isolated'): CircuitSnapshot {
  const { fence } = circuits.readState(name, terms())
  return circuits.compareAndSet(name, 'closed', to, fence, terms()).snapshot
}
