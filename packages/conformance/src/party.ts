import type {
  CircuitSnapshot,
  CircuitState,
  CircuitStore,
  RecordAnswer,
  SwapAnswer,
  Tally,
  Terms,
  WindowCounters,
} from '@tidegate/contract'

/** Sends a command once more each time it is called, to the letter. */
export type Deliver<Answer> = () => Promise<Answer>

/** What the parties at one bench have in common. */
export interface Surroundings {
  readonly defaults: Pick<Terms, 'window' | 'cooldownMs' | 'leaseMs'>
  /** The latest moment of the store's clock that an answer brought. */
  latest: number | undefined
  nonce(): string
}

/** Beyond whatever a case leaps over and then goes on with. */
const DEADLINE_MS = 86_400_000

/** One instance: a breaker in some process, to one circuit of the store. */
export class Party {
  readonly id: string
  readonly name: string
  readonly circuits: CircuitStore
  readonly #surroundings: Surroundings
  #seq = 0

  constructor(id: string, name: string, circuits: CircuitStore, surroundings: Surroundings) {
    this.id = id
    this.name = name
    this.circuits = circuits
    this.#surroundings = surroundings
  }

  terms(over: Partial<Terms> = {}): Terms {
    const { defaults, latest } = this.#surroundings
    const deadline = latest === undefined ? {} : { deadline: latest + DEADLINE_MS }
    return { instance: this.id, nonce: this.#surroundings.nonce(), ...defaults, ...deadline, ...over }
  }

  async read(over: Partial<Terms> = {}): Promise<CircuitSnapshot> {
    const { deadline: _, ...terms } = this.terms(over)
    return this.#saw(await this.circuits.readState(this.name, terms))
  }

  prepareSwap(
    from: CircuitState,
    to: CircuitState,
    fence: string,
    over: Partial<Terms> = {},
  ): Deliver<SwapAnswer> {
    const terms = this.terms(to === 'half-open' ? { owner: this.id, ...over } : over)
    return async () => {
      const answer = await this.circuits.compareAndSet(this.name, from, to, fence, terms)
      this.#saw(answer.snapshot)
      return answer
    }
  }

  swap(from: CircuitState, to: CircuitState, fence: string, over?: Partial<Terms>): Promise<SwapAnswer> {
    return this.prepareSwap(from, to, fence, over)()
  }

  prepareRecord(fence: string, outcomes: Partial<Tally>, over: Partial<Terms> = {}): Deliver<RecordAnswer> {
    const tally = tallyOf(++this.#seq, outcomes)
    const terms = this.terms(over)
    return async () => {
      const answer = await this.circuits.record(this.name, fence, tally, terms)
      this.#saw(answer.snapshot)
      return answer
    }
  }

  record(fence: string, outcomes: Partial<Tally>, over?: Partial<Terms>): Promise<RecordAnswer> {
    return this.prepareRecord(fence, outcomes, over)()
  }

  /** What is counted now, asked with a tally of nothing. */
  async counters(fence: string, over?: Partial<Terms>): Promise<WindowCounters> {
    return (await this.record(fence, {}, over)).counters
  }

  #saw(snapshot: CircuitSnapshot): CircuitSnapshot {
    this.#surroundings.latest = snapshot.now
    return snapshot
  }
}

function tallyOf(seq: number, outcomes: Partial<Tally>): Tally {
  const { successes = 0, failures = 0, slow = 0 } = outcomes
  const trailingFailures = outcomes.trailingFailures ?? (successes === 0 ? failures : 0)
  return { seq: outcomes.seq ?? seq, successes, failures, slow, trailingFailures }
}
