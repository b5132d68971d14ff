/** What Redis answers when it refuses a command; `code` is its first word, such as `MOVED`. */
export class ReplyError extends Error {
  readonly code: string

  constructor(message: string) {
    super(message)
    this.name = 'ReplyError'
    this.code = message.split(' ', 1)[0] ?? ''
  }
}

/**
 * Reads one whole message of RESP2: strings, numbers, null, arrays of these, and
 * errors as values.
 */
export function decode(message: Buffer): unknown {
  let at = 0
  const line = (): string => {
    const start = at
    const end = message.indexOf('\r\n', start)
    at = end + 2
    return message.toString('utf8', start, end)
  }
  const value = (): unknown => {
    const head = line()
    const rest = head.slice(1)
    switch (head[0]) {
      case '+':
        return rest
      case '-':
        return new ReplyError(rest)
      case ':':
        return Number(rest)
      case '$': {
        if (rest === '-1') return null
        const start = at
        at += Number(rest) + 2
        return message.toString('utf8', start, at - 2)
      }
      case '*':
        return rest === '-1' ? null : Array.from({ length: Number(rest) }, value)
      default:
        throw new Error(`not a value of RESP2: ${head}`)
    }
  }
  return value()
}

/** The words of one request, its command in capitals. */
export function decodeRequest(message: Buffer): string[] {
  // A line without a type is a command typed by hand.
  const words =
    message.toString('latin1', 0, 1) === '*' ? decode(message) : message.toString().trim().split(/ +/)
  const [command = '', ...rest] = words as string[]
  return [command.toUpperCase(), ...rest]
}

/** One request as clients send it. */
export function encodeRequest(words: readonly (string | number)[]): Buffer {
  const parts = words.map((word) => {
    const text = String(word)
    return `$${Buffer.byteLength(text)}\r\n${text}\r\n`
  })
  return Buffer.from(`*${words.length}\r\n${parts.join('')}`)
}
