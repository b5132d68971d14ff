import type { Weather } from './dependency'
import type { Random } from './random'

/** What becomes of a probe while the dependency is ill. */
export type Fate =
  | 'fails'
  | 'hangs'
  | 'succeeds'
  /** SIGKILL to its process while it is on its way. */
  | 'is killed'
  /** SIGSTOP, until its lease is over and the next probe is on its way. */
  | 'is frozen'
  /** SIGSTOP, until the circuit is closed. */
  | 'sleeps in'
  /** Its caller goes away. */
  | 'is left'

/** What the way to Redis is like for those behind the proxy. */
export type Trouble = 'none' | 'delays' | 'loses replies' | 'repeats'

export interface Outage {
  readonly weather: Exclude<Weather, 'healthy'>
  readonly fates: readonly Fate[]
  readonly trouble: Trouble
}

const FATES = ['fails', 'hangs', 'succeeds', 'is killed', 'is frozen', 'sleeps in', 'is left'] as const
const TROUBLES = ['none', 'delays', 'none', 'loses replies', 'none', 'repeats'] as const

const MOST_FATES = 3

/** Outages in a row. Chance orders what happens, and sees to it that everything does. */
export function outagesOf(random: Random, count: number): Outage[] {
  const fates = new Deck<Fate>(random, FATES)
  const troubles = new Deck<Trouble>(random, TROUBLES)
  const weathers = new Deck<Outage['weather']>(random, ['failing', 'hanging'])
  return Array.from({ length: count }, () => ({
    weather: weathers.draw(),
    fates: fatesOf(fates, Math.floor(random.between(1, MOST_FATES + 1))),
    trouble: troubles.draw(),
  }))
}

/** A second success would close the circuit, and end the outage before its time. */
function fatesOf(deck: Deck<Fate>, count: number): Fate[] {
  const fates: Fate[] = []
  while (fates.length < count) {
    const fate = deck.draw()
    fates.push(fate === 'succeeds' && fates.includes('succeeds') ? 'fails' : fate)
  }
  return fates
}

/** Cards that are shuffled anew when all have been drawn. */
class Deck<T> {
  readonly #random: Random
  readonly #cards: readonly T[]
  #left: T[] = []

  constructor(random: Random, cards: readonly T[]) {
    this.#random = random
    this.#cards = cards
  }

  draw(): T {
    if (this.#left.length === 0) this.#left = [...this.#cards]
    const [card] = this.#left.splice(Math.floor(this.#random.between(0, this.#left.length)), 1)
    return card as T
  }
}
