import { MAX_INSTANCES } from './instances'

/**
 * Which instances have a failure in a window. Each is marked with where in the
 * window its latest one lies (a bucket, a position); marks only ever grow.
 */
export class Reporters {
  // In the order of the marks: those that the window has left behind are at the front.
  readonly #marks = new Map<string, number>()

  mark(instance: string, at: number): void {
    this.#marks.delete(instance)
    if (this.#marks.size >= MAX_INSTANCES) this.#dropFirst()
    this.#marks.set(instance, at)
  }

  /** How many are marked at `first` or later; forgets the others. */
  count(first: number): number {
    for (const [instance, at] of this.#marks) {
      if (at >= first) break
      this.#marks.delete(instance)
    }
    return this.#marks.size
  }

  #dropFirst(): void {
    for (const instance of this.#marks.keys()) {
      this.#marks.delete(instance)
      return
    }
  }
}
