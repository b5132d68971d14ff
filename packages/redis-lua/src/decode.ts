import type { Decoded, Format, Kind } from './script'

/** What Redis said is none of what the script answers: another one's key, a proxy's page, a newer version's reply. */
export class UnreadableReplyError extends Error {
  readonly code = 'STORE_UNREADABLE'

  constructor(script: string, what: string) {
    // No value: what stands in a store may be anybody's.
    super(`the reply of Redis to ${script} cannot be read: ${what}`)
    this.name = 'UnreadableReplyError'
  }
}

/** As include/text.lua packs them. */
const BYTES_A_NUMBER = 6

/** As include/string.lua has it. */
const STRING_MARK = '='

const ASCII = /^[ -~]*$/

/**
 * Reads a reply, number by number.
 *
 * @throws UnreadableReplyError where it is not of this format, to its last number
 */
export function decode<F extends Format>(script: string, format: F, reply: unknown): Decoded<F> {
  if (!Array.isArray(reply)) throw new UnreadableReplyError(script, 'it is no list')
  const reader = new Reader(script, reply)
  const fields = Object.entries(format).map(([name, kind]) => [name, reader.read(name, kind)])
  reader.end()
  return Object.fromEntries(fields) as Decoded<F>
}

class Reader {
  readonly #script: string
  readonly #reply: readonly unknown[]
  #at = 0

  constructor(script: string, reply: readonly unknown[]) {
    this.#script = script
    this.#reply = reply
  }

  read(name: string, kind: Kind): string | number | boolean | readonly number[] | undefined {
    if (kind === 'string') return this.#string(name)
    if (kind === 'integers') return this.#integers(name)
    const number = this.#integer(name)
    if (kind === 'optional' && number === -1) return undefined
    if (number < 0) throw this.#unreadable(name, 'is below 0')
    if (kind === 'integer' || kind === 'optional') return number
    if (kind === 'text') return this.#text(name, number)
    if (kind === 'flag') {
      if (number > 1) throw this.#unreadable(name, 'is neither 0 nor 1')
      return number === 1
    }
    const one = kind[number]
    if (one === undefined) throw this.#unreadable(name, `is none of ${kind.join(', ')}`)
    return one
  }

  end(): void {
    if (this.#at !== this.#reply.length) throw this.#unreadable('the end', 'does not come where it should')
  }

  #text(name: string, length: number): string {
    let text = ''
    for (let left = length; left > 0; left -= BYTES_A_NUMBER) {
      const number = this.#integer(name)
      const bytes = Math.min(left, BYTES_A_NUMBER)
      if (number < 0 || number >= 256 ** bytes) throw this.#unreadable(name, 'has more bytes than it says')
      text += charactersOf(number, bytes)
    }
    if (!ASCII.test(text)) throw this.#unreadable(name, 'is not plain ASCII')
    return text
  }

  #integers(name: string): readonly number[] {
    const numbers: number[] = []
    while (this.#at < this.#reply.length) {
      const number = this.#integer(name)
      if (number < 0) throw this.#unreadable(name, 'has one below 0')
      numbers.push(number)
    }
    return numbers
  }

  #string(name: string): string {
    const value = this.#reply[this.#at++]
    if (typeof value !== 'string' || !value.startsWith(STRING_MARK)) {
      throw this.#unreadable(name, 'is no marked string')
    }
    return value.slice(STRING_MARK.length)
  }

  /** Some clients hand out integers as strings, if their user asks them to. */
  #integer(name: string): number {
    const value = this.#reply[this.#at++]
    const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value
    if (!Number.isSafeInteger(number)) throw this.#unreadable(name, 'is no integer')
    return number as number
  }

  #unreadable(name: string, what: string): UnreadableReplyError {
    return new UnreadableReplyError(this.#script, `${name} ${what}`)
  }
}

/** The bytes of a number, the highest first. Not by shifting, which is for 32 bits. */
function charactersOf(number: number, count: number): string {
  let text = ''
  for (let left = number, byte = 0; byte < count; byte++) {
    text = String.fromCharCode(left % 256) + text
    left = Math.floor(left / 256)
  }
  return text
}
