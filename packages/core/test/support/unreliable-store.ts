import type { CircuitSnapshot, CircuitStore, Store } from '@tidegate/core'
import type { Process, Random, World } from './simulation'
import type { Method } from './wayward-store'

/** How the way to the store, and the store, behave; shares of the commands. */
export interface Weather {
  isCutOff: boolean
  slow: number
  lostCommands: number
  lostAnswers: number
  repeats: number
  rejects: number
  throws: number
  garbage: number
}

export const CALM: Readonly<Weather> = {
  isCutOff: false,
  slow: 0,
  lostCommands: 0,
  lostAnswers: 0,
  repeats: 0,
  rejects: 0,
  throws: 0,
  garbage: 0,
}

/** Sees each command in the moment in which the store has executed it. */
export type Witness = (method: Method, args: readonly unknown[], answer: unknown) => void

/** One process' client of a store that all share, across a network that does what networks do. */
export class UnreliableStore implements Store {
  readonly supports: Store['supports']
  readonly circuits: CircuitStore
  weather: Weather = { ...CALM }
  isReady = true
  readonly #world: World
  readonly #process: Process
  readonly #random: Random
  readonly #witness: Witness

  constructor(inner: Store, world: World, process: Process, random: Random, push: boolean, witness: Witness) {
    this.#world = world
    this.#process = process
    this.#random = random
    this.#witness = witness
    this.supports = { windows: ['time', 'consecutive'], push, shared: true }
    const { circuits } = inner
    this.circuits = {
      readState: (...args) => this.#send('readState', args, () => circuits.readState(...args)),
      compareAndSet: (...args) => this.#send('compareAndSet', args, () => circuits.compareAndSet(...args)),
      record: (...args) => this.#send('record', args, () => circuits.record(...args)),
      forget: (name) => circuits.forget(name),
      subscribe: (name, listener) =>
        circuits.subscribe?.(name, (snapshot) => this.#push(snapshot, listener)) ?? (() => {}),
    }
  }

  ready(): boolean {
    return this.isReady
  }

  ping(): void {}

  async close(): Promise<void> {}

  #send(method: Method, args: readonly unknown[], run: () => unknown): never {
    const { weather } = this
    const random = this.#random
    if (random.chance(weather.throws)) throw new Error('thrown by the store')
    return new Promise((resolve, reject) => {
      const answer = (act: () => void) => this.#process.deliver(this.#delay(), act)
      if (weather.isCutOff || random.chance(weather.lostCommands)) return
      if (random.chance(weather.rejects)) return void answer(() => reject(new Error('rejected by the store')))
      const isAnswerLost = random.chance(weather.lostAnswers)
      const isGarbage = random.chance(weather.garbage)
      const isRefusedAfter = random.chance(weather.rejects / 2)
      const execute = () => {
        const result = run()
        this.#witness(method, args, result)
        return result
      }
      this.#world.at(this.#delay(), () => {
        const result = execute()
        if (isAnswerLost) return
        answer(() => {
          if (isRefusedAfter) reject(new Error('lost after it was done'))
          else resolve(isGarbage ? { ok: 'yes', state: 'ajar', counted: 1 } : result)
        })
      })
      // The client sends it again, or the network delivers it again; at times when nobody thinks of it any more.
      while (random.chance(weather.repeats)) {
        const later = random.chance(0.3) ? random.between(1_000, 15_000) : random.between(0, 300)
        this.#world.at(later, () => void execute())
      }
    }) as never
  }

  #push(snapshot: CircuitSnapshot, listener: (snapshot: CircuitSnapshot) => void): void {
    if (this.weather.isCutOff || this.#random.chance(this.weather.lostAnswers)) return
    this.#process.deliver(this.#delay(), () => listener(snapshot))
  }

  #delay(): number {
    return this.#random.chance(this.weather.slow)
      ? this.#random.between(20, this.#random.chance(0.2) ? 3_000 : 200)
      : this.#random.between(0, 4)
  }
}
