/** What is seen when a wait is given up; it makes the difference between a riddle and a finding. */
export type Seen = () => string

const PATIENCE_MS = 15_000

/** Rung whenever anything was heard, for those who wait until what was heard adds up to something. */
export class Bell {
  readonly #checks = new Set<() => void>()
  readonly #seen: Seen

  /** @param seen how things are, for the message of a wait that was in vain */
  constructor(seen: Seen = () => 'nothing') {
    this.#seen = seen
  }

  readonly ring = (): void => {
    for (const check of [...this.#checks]) check()
  }

  /**
   * Asks at once and at every ring, and resolves with the first answer that is not false or undefined.
   *
   * @param what ends the sentence "waited in vain for ..."
   */
  until<T>(what: string, ask: () => T | false | undefined, patienceMs: number = PATIENCE_MS): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const answer = ask()
        if (answer === false || answer === undefined) return
        end()
        resolve(answer)
      }
      const timer = setTimeout(() => {
        end()
        reject(new Error(`waited in vain for ${what}, ${patienceMs} ms; seen: ${this.#seen()}`))
      }, patienceMs)
      const end = (): void => {
        clearTimeout(timer)
        this.#checks.delete(check)
      }
      this.#checks.add(check)
      check()
    })
  }
}
