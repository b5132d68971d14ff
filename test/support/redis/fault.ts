/**
 * Which requests are meant: those of a command, such as `EVALSHA`, or those whose
 * words please a function; the command is in capitals there. All, where it is left out.
 */
export type Which = string | ((request: readonly string[]) => boolean)

/** Something that is to befall the next few requests. */
export class Fault {
  #left = 0
  #which: Which | undefined

  /** Replaces what was asked before; a count of 0 only takes it back. */
  arm(count: number, which: Which | undefined): void {
    this.#left = count
    this.#which = which
  }

  /** Whether it befalls this one, which then counts. */
  befalls(request: readonly string[]): boolean {
    if (this.#left === 0 || !this.#isMeant(request)) return false
    this.#left--
    return true
  }

  #isMeant(request: readonly string[]): boolean {
    const which = this.#which
    if (which === undefined) return true
    return typeof which === 'string' ? request[0] === which.toUpperCase() : which(request)
  }
}
