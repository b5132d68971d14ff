/** Numbers and names what one breaker sends, so that a second delivery is known as one. */
export class Identity {
  #instance: string | undefined
  #count = 0

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
