import type { CircuitStore, Store } from '@tidegate/core'
import { oneTurn } from './virtual-clock'

export type Method = 'readState' | 'compareAndSet' | 'record'

/** What a store does with a command instead of answering it. */
export type Fault =
  | 'throw'
  | 'reject'
  | 'garbage'
  /** Never executed, never answered. */
  | 'silence'
  /** Executed, never answered. */
  | 'lose-answer'

/**
 * A store that answers later, as one across a network does, and misbehaves on
 * command. It counts what it is sent.
 */
export class WaywardStore implements Store {
  readonly supports: Store['supports']
  readonly circuits: CircuitStore
  readonly sent: { method: Method; args: readonly unknown[] }[] = []
  readonly faults: Map<Method, Fault> = new Map()
  /** Whether answers come at once, as from a store in this process. */
  isSync = false
  isReady = true
  readonly #inner: Store
  #held: (() => void)[] | undefined

  /** @param supports as a store across a network would, or not */
  constructor(inner: Store, supports: Partial<Store['supports']> = { push: false }) {
    this.#inner = inner
    this.supports = { ...inner.supports, ...supports }
    this.circuits = {
      readState: (...args) => this.#run('readState', args, () => inner.circuits.readState(...args)),
      compareAndSet: (...args) =>
        this.#run('compareAndSet', args, () => inner.circuits.compareAndSet(...args)),
      record: (...args) => this.#run('record', args, () => inner.circuits.record(...args)),
      forget: (name) => inner.circuits.forget(name),
      subscribe: (name, listener) => inner.circuits.subscribe?.(name, listener) ?? (() => {}),
    }
  }

  fail(fault: Fault | undefined, ...methods: Method[]): void {
    for (const method of methods.length > 0 ? methods : (['readState', 'compareAndSet', 'record'] as const)) {
      if (fault === undefined) this.faults.delete(method)
      else this.faults.set(method, fault)
    }
  }

  count(method: Method): number {
    return this.sent.filter((command) => command.method === method).length
  }

  /** Keeps answers back until the function that is returned is called. */
  hold(): () => void {
    const held: (() => void)[] = []
    this.#held = held
    return () => {
      this.#held = undefined
      for (const release of held) release()
    }
  }

  ready(): boolean {
    return this.isReady
  }

  ping(): void {}

  close(): Promise<void> {
    return this.#inner.close()
  }

  #run(method: Method, args: readonly unknown[], execute: () => unknown): never {
    this.sent.push({ method, args })
    return this.#answer(this.faults.get(method), execute) as never
  }

  #answer(fault: Fault | undefined, execute: () => unknown): unknown {
    if (fault === 'throw') throw new Error('thrown by the store')
    if (fault === 'reject') return Promise.reject(new Error('rejected by the store'))
    if (fault === 'garbage') return this.isSync ? { state: 'ajar' } : Promise.resolve({ state: 'ajar' })
    if (fault === 'silence') return new Promise(() => {})
    const answer = execute()
    if (fault === 'lose-answer') return new Promise(() => {})
    if (this.isSync) return answer
    const held = this.#held
    if (held === undefined) return oneTurn().then(() => answer)
    return new Promise((resolve) => held.push(() => resolve(answer)))
  }
}
