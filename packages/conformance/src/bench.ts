import type { CircuitSnapshot, CircuitWindow, Store, Terms } from '@tidegate/contract'
import { ConformanceError, holds } from './assertion'
import { ALL_PARTS, type Harness, type Hook, type Hooks, type Part } from './harness'
import { Party, type Surroundings } from './party'

/** Long enough for nothing to run out during a case that does not ask for it. */
const LONG_MS = 60_000

/** What a case works with: a store, parties to its circuits, and what may befall it. */
export class Bench {
  readonly store: Store
  /** The circuit of the case; no other case has one of this name. */
  readonly name: string
  readonly tickMs: number
  readonly seed: number
  readonly #patienceMs: number
  readonly #harness: Harness
  readonly #peers: readonly Store[]
  readonly #surroundings: Surroundings
  #parties = 0
  #turns = 0

  private constructor(harness: Harness, store: Store, peers: readonly Store[]) {
    const unique = `${Date.now().toString(36)}${Math.floor(Math.random() * 2 ** 40).toString(36)}`
    let nonces = 0
    this.store = store
    this.name = `conformance-${unique}`
    this.tickMs = harness.tickMs ?? 100
    this.seed = harness.seed ?? Math.floor(Math.random() * 2 ** 32)
    this.#patienceMs = harness.patienceMs ?? 2_000
    this.#harness = harness
    this.#peers = peers
    this.#surroundings = {
      defaults: { window: longWindow(harness), cooldownMs: LONG_MS, leaseMs: LONG_MS },
      latest: undefined,
      nonce: () => `${unique}-${++nonces}`,
    }
  }

  static async open(harness: Harness): Promise<Bench> {
    const store = await harness.create()
    const peer = await harness.hooks?.peer?.(store)
    return new Bench(harness, store, peer === undefined ? [] : [peer])
  }

  async close(): Promise<void> {
    for (const peer of this.#peers) await peer.close()
    if (this.#harness.dispose) await this.#harness.dispose(this.store)
    else await this.store.close()
  }

  /** The way to the store of the process whose turn it is, where the harness has peers. */
  turn(): Store {
    const stores = [this.store, ...this.#peers]
    return stores[this.#turns++ % stores.length] as Store
  }

  /** The next instance; where the harness has peers, they take turns. */
  party(name: string = this.name, id?: string): Party {
    return new Party(id ?? `instance-${++this.#parties}`, name, this.turn().circuits, this.#surroundings)
  }

  /** Unlike any other of this store: an owner, or part of a key. */
  unique(): string {
    return this.#surroundings.nonce()
  }

  /** The store's clock, by the answer of a circuit beside those of the case. */
  async now(): Promise<number> {
    const clock = new Party('clock', `${this.name}-clock`, this.store.circuits, this.#surroundings)
    return (await clock.read()).now
  }

  async advance(ticks: number): Promise<void> {
    await this.wait(ticks * this.tickMs)
  }

  /** As long as an answer said, to the millisecond. */
  async wait(ms: number): Promise<void> {
    await this.hook('advance')(ms, this.store)
  }

  /** The hook, which the needs of the case have promised. */
  hook<Name extends Hook>(name: Name): Required<Hooks>[Name] {
    const hook = this.#harness.hooks?.[name]
    if (hook === undefined) throw new Error(`the case uses the hook ${name} without saying so in its needs`)
    return hook as Required<Hooks>[Name]
  }

  has(name: Hook): boolean {
    return this.#harness.hooks?.[name] !== undefined
  }

  supports(): Harness['supports'] {
    return this.#harness.supports
  }

  /** What the harness says its store has. */
  parts(): readonly Part[] {
    return this.#harness.parts ?? ALL_PARTS
  }

  /** A window of this many ticks, where cases are about its length. */
  timeWindow(ticks: number): CircuitWindow {
    return { kind: 'time', ms: ticks * this.tickMs }
  }

  async opened(party: Party, over: Partial<Terms> = {}): Promise<CircuitSnapshot> {
    const { state, fence } = await party.read()
    const { ok, snapshot } = await party.swap(state, 'open', fence, over)
    holds(ok, 'a closed circuit opens')
    return snapshot
  }

  /** Opened with a cooldown of a tick, which is over. */
  async cooled(party: Party, over: Partial<Terms> = {}): Promise<CircuitSnapshot> {
    const opened = await this.opened(party, { cooldownMs: this.tickMs, ...over })
    await this.advance(1.5)
    return opened
  }

  /** Half-open, with the permit in the party's hands. */
  async probing(party: Party, over: Partial<Terms> = {}): Promise<CircuitSnapshot> {
    const { fence } = await this.cooled(party)
    const { ok, snapshot } = await party.swap('open', 'half-open', fence, over)
    holds(ok, 'an open circuit takes a probe once its cooldown is over')
    return snapshot
  }

  /** Half-open, with the permit free. */
  async yielded(party: Party, over: Partial<Terms> = {}): Promise<CircuitSnapshot> {
    const { fence } = await this.probing(party)
    const { ok, snapshot } = await party.swap('half-open', 'half-open', fence, { yield: true, ...over })
    holds(ok, 'the owner of a permit yields it')
    return snapshot
  }

  async isolated(party: Party): Promise<CircuitSnapshot> {
    const { state, fence } = await party.read()
    const { ok, snapshot } = await party.swap(state, 'isolated', fence)
    holds(ok, 'a closed circuit is isolated')
    return snapshot
  }

  /** Waits, in real time, for what arrives when it arrives; calls `again` while it waits. */
  async eventually(condition: () => boolean, what: string, again?: () => Promise<unknown>): Promise<void> {
    const start = Date.now()
    while (!condition()) {
      if (Date.now() - start > this.#patienceMs) throw new ConformanceError(what, true, false)
      await again?.()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
}

function longWindow({ supports }: Harness): CircuitWindow {
  if (supports.windows.includes('time')) return { kind: 'time', ms: LONG_MS }
  if (supports.windows.includes('consecutive')) return { kind: 'consecutive' }
  return { kind: 'count', calls: 1_000 }
}
