import {
  type CircuitSnapshot,
  type CircuitState,
  type CircuitStore,
  checkFence,
  checkName,
  checkSwap,
  checkTally,
  checkTerms,
  type Fence,
  fleetSpanMs,
  idleLeaseMs,
  isSwap,
  type RecordAnswer,
  type SwapAnswer,
  type Tally,
  type Terms,
  type Unsubscribe,
} from '@tidegate/contract'
import { countInstances, type Instance, type Instances, newInstance, touchInstance } from './instances'
import { type Phase, snapshotOf } from './phase'
import { Shelf, Shelved } from './shelf'
import { Subscribers } from './subscribers'
import { decideSwap } from './swap'
import type { Time } from './time'
import { countersOf, type Windows, withShape } from './window'

const NO_WINDOWS: Windows = []

/** One circuit: its present period, what was counted in it, and who came by. */
class Circuit extends Shelved<Circuit> {
  readonly name: string
  phase: Phase
  fence: Fence
  /** The nonce of the swap that began the period; undefined where the circuit was created. */
  begunBy: string | undefined = undefined
  windows: Windows = NO_WINDOWS
  readonly instances: Instances
  #idleUntil = 0

  constructor(name: string, fence: Fence, now: number, creator: string) {
    super()
    this.name = name
    this.phase = { state: 'closed', since: now, trips: 0 }
    this.fence = fence
    // With its first one in place, for an array that is pushed to makes room for sixteen more.
    this.instances = [newInstance(creator, now)]
  }

  override get isHeld(): boolean {
    return this.phase.state !== 'closed'
  }

  /** Begins the period that a swap won: with nothing of the one before counted in it. */
  begin(phase: Phase, fence: Fence, nonce: string): void {
    this.phase = phase
    this.fence = fence
    this.begunBy = nonce
    this.windows = NO_WINDOWS
  }

  /** Isolation has no end of its own. */
  get expiresAt(): number {
    return this.phase.state === 'isolated' ? Number.POSITIVE_INFINITY : this.#idleUntil
  }

  /**
   * Any touch renews the lease, and none shortens it: so it also outlasts the
   * cooldown and the permit, whose swap renewed it by twice their length.
   */
  renew(terms: Terms, now: number): void {
    this.#idleUntil = Math.max(this.#idleUntil, now + idleLeaseMs(terms))
  }

  snapshot(terms: Terms, now: number): CircuitSnapshot {
    const fleet = countInstances(this.instances, fleetSpanMs(terms.window), now)
    return snapshotOf(this.phase, this.fence, fleet, terms.window, now)
  }
}

/** Circuits in this process' memory. Each method is atomic for it does not wait. */
export class MemoryCircuits implements CircuitStore {
  readonly #time: Time
  readonly #shelf: Shelf<Circuit>
  readonly #subscribers = new Subscribers()

  constructor(maxKeys: number, time: Time) {
    this.#shelf = new Shelf(
      maxKeys,
      'circuits are open, half-open or isolated',
      'forget circuits that nobody needs',
    )
    this.#time = time
  }

  readState(name: string, terms: Terms): CircuitSnapshot {
    const { circuit, now } = this.#touch(name, terms)
    return circuit.snapshot(terms, now)
  }

  compareAndSet(name: string, from: CircuitState, to: CircuitState, fence: Fence, terms: Terms): SwapAnswer {
    checkFence(fence)
    checkSwap(from, to, terms)
    const { circuit, instance, now } = this.#touch(name, terms)
    const answer = (ok: boolean): SwapAnswer => ({ ok, snapshot: circuit.snapshot(terms, now) })
    const isRepeat = circuit.begunBy === terms.nonce && circuit.phase.state === to
    if (isRepeat) return answer(true)
    if (circuit.fence !== fence || circuit.phase.state !== from || !isSwap(from, to)) return answer(false)
    if (instance.refused === terms.nonce || isPast(terms, now)) return answer(false)
    const next = decideSwap(circuit.phase, to, terms, now)
    if (next === undefined) {
      instance.refused = terms.nonce
      return answer(false)
    }
    circuit.begin(next, this.#time.mint(now, terms.nonce), terms.nonce)
    this.#keep(circuit, terms, now)
    const landed = answer(true)
    this.#subscribers.tell(name, landed.snapshot)
    return landed
  }

  record(name: string, fence: Fence, tally: Tally, terms: Terms): RecordAnswer {
    checkFence(fence)
    checkTally(tally)
    const { circuit, instance, now } = this.#touch(name, terms)
    const counted = this.#count(circuit, instance, fence, tally, terms, now)
    const counters = countersOf(circuit.windows, terms.window, now)
    return { counted, snapshot: circuit.snapshot(terms, now), counters }
  }

  forget(name: string): void {
    checkName(name)
    this.#shelf.delete(name)
  }

  subscribe(name: string, listener: (snapshot: CircuitSnapshot) => void): Unsubscribe {
    checkName(name)
    return this.#subscribers.add(name, listener)
  }

  close(): void {
    this.#subscribers.clear()
  }

  #count(
    circuit: Circuit,
    instance: Instance,
    fence: Fence,
    tally: Tally,
    terms: Terms,
    now: number,
  ): boolean {
    if (circuit.fence !== fence) return false
    if (tally.seq <= instance.seq) return true
    if (isPast(terms, now)) return false
    instance.seq = tally.seq
    circuit.windows = withShape(circuit.windows, terms.window)
    for (const window of circuit.windows) window.add(tally, instance.id, now)
    return true
  }

  /** The circuit of this name, made if there is none, and touched by the instance either way. */
  #touch(name: string, terms: Terms): { circuit: Circuit; instance: Instance; now: number } {
    checkName(name)
    checkTerms(terms)
    const now = this.#time.now()
    const circuit = this.#shelf.get(name, now) ?? this.#create(name, terms, now)
    const instance = touchInstance(circuit.instances, terms.instance, now)
    this.#keep(circuit, terms, now)
    return { circuit, instance, now }
  }

  #create(name: string, terms: Terms, now: number): Circuit {
    const fence = this.#time.mint(now, `~${terms.nonce}`)
    const circuit = new Circuit(name, fence, now, terms.instance)
    this.#shelf.add(circuit, now)
    return circuit
  }

  #keep(circuit: Circuit, terms: Terms, now: number): void {
    circuit.renew(terms, now)
    this.#shelf.use(circuit, now)
  }
}

function isPast(terms: Terms, now: number): boolean {
  return terms.deadline !== undefined && now > terms.deadline
}
