/**
 * Numbers and names what one instance sends, so that a second delivery is known as one.
 * Breakers that come and go under one name, as those of keys do, share it: each with
 * one of its own would be counted as one more process.
 */
export class Identity {
  #instance: string | undefined
  #count = 0
  #hasOwner = false

  /**
   * Made when it is first needed: a process image that was saved after its modules
   * were loaded, and is started many times, must not start with one name.
   */
  get instance(): string {
    this.#instance ??= randomId()
    return this.#instance
  }

  nextNonce(): string {
    return `${this.instance}-${(this.#count++).toString(36)}`
  }

  nextSeq(): number {
    return ++this.#count
  }

  /**
   * Who holds a permit: one breaker, and not its like of the same instance. The first,
   * which mostly is the only one, goes by the instance's name.
   */
  nextOwner(): string {
    if (this.#hasOwner) return this.nextNonce()
    this.#hasOwner = true
    return this.instance
  }

  /** Whether a command of this instance had the nonce. */
  owns(nonce: string): boolean {
    return nonce.startsWith(`${this.instance}-`)
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'

/** 96 random bits, not from the `random` option: two processes with one seed must not be one instance. */
function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => ALPHABET[byte % 64]).join('')
}
