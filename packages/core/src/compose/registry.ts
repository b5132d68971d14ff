import { OptionError } from '../errors'
import { describe } from '../options'
import { type Resilience, type ResilienceOptions, resilience } from './resilience'

/** How many letters a name may be off for it to be suggested. */
const TYPO = 2

/** Pipelines by name: configured in one place, and used in many. */
export class PolicyRegistry {
  readonly #pipelines = new Map<string, Resilience>()

  /**
   * Builds a pipeline, and keeps it under its name.
   *
   * @throws OptionError naming the option; for a name that is taken, too
   */
  define(name: string, options: Omit<ResilienceOptions, 'name'>): Resilience {
    if (this.#pipelines.has(name)) {
      throw new OptionError(
        'name',
        `policies.define: ${describe(name)} is defined already; get it, or choose another name`,
      )
    }
    const pipeline = resilience({ ...options, name })
    this.#pipelines.set(name, pipeline)
    return pipeline
  }

  /** @throws OptionError for a name that was not defined, with those that were */
  get(name: string): Resilience {
    const pipeline = this.#pipelines.get(name)
    if (pipeline !== undefined) return pipeline
    const near = [...this.#pipelines.keys()].find((known) => distance(known, String(name)) <= TYPO)
    const hint =
      near === undefined ? `there are ${this.names.join(', ') || 'none'}` : `is it ${describe(near)}?`
    throw new OptionError('name', `policies.get: there is no ${describe(name)}; ${hint}`)
  }

  /** In the order in which they were defined. */
  get names(): readonly string[] {
    return [...this.#pipelines.keys()]
  }

  /** Forgets all: for tests, which define anew. */
  clear(): void {
    this.#pipelines.clear()
  }
}

/** The registry of the process. */
export const policies: PolicyRegistry = new PolicyRegistry()

/** Levenshtein's: letters to change, add or leave out. One row at a time. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
