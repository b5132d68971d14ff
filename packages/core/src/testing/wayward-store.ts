import type { CircuitStore, Store } from '@tidegate/contract'
import type { Clock } from '../clock'
import { oneTurn } from './virtual-clock'

/** A command of any part of a store. */
export type Method =
  | 'readState'
  | 'compareAndSet'
  | 'record'
  | 'consume'
  | 'peek'
  | 'settle'
  | 'reset'
  | 'acquire'
  | 'renew'
  | 'release'
  | 'get'
  | 'set'
  | 'delete'

/** What a store does with a command instead of answering it. */
export type Fault =
  | 'throw'
  | 'reject'
  /** Answers something else. */
  | 'garbage'
  /** Never executed, never answered. */
  | 'silence'
  /** Executed, never answered. */
  | 'lose-answer'
  /** Executed twice, as by a client that sends it again; the second answer is told. */
  | 'repeat'

type Command = (...args: never[]) => unknown

/** All that a store can do wrong at once. */
const CIRCUIT_METHODS: readonly Method[] = ['readState', 'compareAndSet', 'record']

/**
 * A store that answers later, as one across a network does, and misbehaves on
 * command. It counts what it is sent.
 */
export class WaywardStore implements Store {
  readonly supports: Store['supports']
  readonly circuits: CircuitStore
  readonly limits?: NonNullable<Store['limits']>
  readonly leases?: NonNullable<Store['leases']>
  readonly cache?: NonNullable<Store['cache']>
  readonly sent: { method: Method; args: readonly unknown[] }[] = []
  readonly faults: Map<Method, Fault> = new Map()
  /** Whether answers come at once, as from a store in this process. */
  isSync = false
  isReady = true
  readonly #inner: Store
  #held: (() => void)[] | undefined
  #delay: { readonly clock: Clock; readonly ms: number } | undefined

  /** @param supports as a store across a network would, or not */
  constructor(inner: Store, supports: Partial<Store['supports']> = { push: false }) {
    this.#inner = inner
    this.supports = { ...inner.supports, ...supports }
    const { circuits, limits, leases, cache } = inner
    this.circuits = this.#through(circuits, CIRCUIT_METHODS)
    if (limits) this.limits = this.#through(limits, ['consume', 'peek', 'settle', 'reset'])
    if (leases) this.leases = this.#through(leases, ['acquire', 'renew', 'release'])
    if (cache) this.cache = this.#through(cache, ['get', 'set', 'delete'])
  }

  /** @param methods those of circuits, where none is named; `undefined` ends their misbehaving */
  fail(fault: Fault | undefined, ...methods: Method[]): void {
    for (const method of methods.length > 0 ? methods : CIRCUIT_METHODS) {
      if (fault === undefined) this.faults.delete(method)
      else this.faults.set(method, fault)
    }
  }

  count(method: Method): number {
    return this.sent.filter((command) => command.method === method).length
  }

  /** Answers so much later, by the clock; 0 ends it. */
  delay(clock: Clock, ms: number): void {
    this.#delay = ms > 0 ? { clock, ms } : undefined
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

  /** A part of the store, with these of its methods in our hands. */
  #through<Part extends object>(part: Part, methods: readonly Method[]): Part {
    const own = part as Readonly<Record<string, Command | undefined>>
    // Bound, for a part may keep what it needs in fields of its own; a copy, for it may be frozen.
    const bound =
      (name: string): Command =>
      (...args) =>
        own[name]?.call(part, ...args)
    const others = ['forget', 'subscribe'].filter((name) => own[name] !== undefined)
    return Object.fromEntries([
      ...others.map((name) => [name, bound(name)]),
      ...methods.map((method) => [
        method,
        (...args: never[]) => this.#run(method, args, () => bound(method)(...args)),
      ]),
    ]) as Part
  }

  #run(method: Method, args: readonly unknown[], execute: () => unknown): unknown {
    this.sent.push({ method, args })
    const fault = this.faults.get(method)
    if (fault === 'throw') throw new Error('thrown by the store')
    if (fault === 'reject') return Promise.reject(new Error('rejected by the store'))
    if (fault === 'garbage') return this.isSync ? { state: 'ajar' } : Promise.resolve({ state: 'ajar' })
    if (fault === 'silence') return new Promise(() => {})
    if (fault === 'repeat') execute()
    const answer = execute()
    return fault === 'lose-answer' ? new Promise(() => {}) : this.#answer(answer)
  }

  #answer(answer: unknown): unknown {
    if (this.isSync) return answer
    const [held, delay] = [this.#held, this.#delay]
    if (held !== undefined) return new Promise((resolve) => held.push(() => resolve(answer)))
    if (delay === undefined) return oneTurn().then(() => answer)
    return new Promise((resolve) => delay.clock.setTimeout(() => resolve(answer), delay.ms, false))
  }
}
