import type { Scope } from '../call/scope'
import { counted } from '../call/work'
import { type Clock, systemClock } from '../clock'
import { Layer, type Next } from '../policy'

const NO_EVENTS = {}

/** Policies around one another, the first the outermost. A policy itself: it nests, and costs what its parts cost. */
export class Pipeline extends Layer<object> {
  readonly kind = 'pipeline'
  readonly name: string
  /** From the outermost to the innermost. */
  readonly layers: readonly Layer<object>[]

  /** What the deadlines of callers go by. */
  readonly clock: Clock

  /** Whether one holds a slot around others, which may give a function up that runs on. */
  readonly #isCounted: boolean

  /** Use `compose(...policies)`, which checks them. */
  constructor(name: string, layers: readonly Layer<object>[], clock?: Clock) {
    super()
    this.name = name
    this.layers = layers
    this.#isCounted = layers.slice(0, -1).some(({ kind }) => kind === 'bulkhead')
    // A policy that tells no time has the system's: one that a test turns is meant for all.
    this.clock = clock ?? layers.find((layer) => layer.clock !== systemClock)?.clock ?? systemClock
  }

  protected get eventNames(): Readonly<Record<never, true>> {
    return NO_EVENTS
  }

  run<T>(next: Next<T>, scope: Scope): Promise<T> {
    return runFrom(this.layers, 0, this.#isCounted ? counted(next) : next, scope)
  }

  /** The stats of each policy, by `kind` and name, from the outermost on. */
  stats(): Readonly<Record<string, object>> {
    return Object.fromEntries(this.layers.map((layer) => [`${layer.kind} ${layer.name}`, layer.stats()]))
  }

  override describe(): string {
    return this.layers.map((layer) => layer.describe()).join('\n')
  }
}

function runFrom<T>(layers: readonly Layer<object>[], at: number, next: Next<T>, scope: Scope): Promise<T> {
  const layer = layers[at] as Layer<object>
  if (at === layers.length - 1) return layer.run(next, scope)
  return layer.run((inner) => runFrom(layers, at + 1, next, inner), scope)
}
