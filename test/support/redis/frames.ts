const END_OF_LINE = '\r\n'

/**
 * Cuts a RESP stream, of version 2 or 3, into its top-level messages: requests,
 * replies, pushes. It finds their ends only; {@link decode} reads them.
 *
 * https://redis.io/docs/latest/develop/reference/protocol-spec/
 */
export class Frames {
  #bytes: Buffer = Buffer.alloc(0)
  /** What lies before it has been walked over. */
  #at = 0
  /** How many values are still to come before the message is whole. */
  #missing = 1

  /** Takes the next bytes as they come, and gives back the messages that they complete. */
  push(chunk: Buffer): Buffer[] {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    const whole: Buffer[] = []
    while (this.#step()) {
      if (this.#missing > 0) continue
      whole.push(this.#bytes.subarray(0, this.#at))
      this.#bytes = this.#bytes.subarray(this.#at)
      this.#at = 0
      this.#missing = 1
    }
    return whole
  }

  /** Walks over one value, or over the head of an aggregate; false when more bytes are needed. */
  #step(): boolean {
    const end = this.#bytes.indexOf(END_OF_LINE, this.#at)
    if (end < 0) return false
    const line = this.#bytes.toString('latin1', this.#at, end)
    let next = end + END_OF_LINE.length
    // A null of RESP2 has a length of -1, and neither content nor elements.
    const length = Math.max(0, Number(line.slice(1)))
    let missing = this.#missing - 1
    switch (line[0]) {
      case '$':
      case '=':
      case '!':
        if (!line.endsWith('-1')) next += length + END_OF_LINE.length
        break
      case '*':
      case '~':
      case '>':
        missing += length
        break
      case '%':
        missing += 2 * length
        break
      case '|':
        // An attribute stands before the value that it is about, and is no value itself.
        missing += 2 * length + 1
        break
    }
    if (next > this.#bytes.length) return false
    this.#at = next
    this.#missing = missing
    return true
  }
}
