/** An answer, and when it came. */
export interface Kept {
  readonly value: unknown
  /** By the clock, in ms. */
  readonly at: number
  /** When it was last put where others find it. */
  sharedAt: number
}

/** The last answer of each key; of so many, those that came last. */
export class LastAnswers {
  readonly #maxKeys: number
  /** In the order in which they came: a key that is set anew goes last. */
  readonly #kept = new Map<string, Kept>()

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys
  }

  get size(): number {
    return this.#kept.size
  }

  get(key: string): Kept | undefined {
    return this.#kept.get(key)
  }

  set(key: string, kept: Kept): void {
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    if (this.#kept.size <= this.#maxKeys) return
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined) this.#kept.delete(oldest)
  }

  delete(key: string): void {
    this.#kept.delete(key)
  }
}
