import { connect, type Socket } from 'node:net'
import { Frames } from './frames'
import { decode, encodeRequest, ReplyError } from './resp'

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

interface Link {
  readonly socket: Socket
  /** In the order in which the commands went out, which is that of their replies. */
  readonly waiting: Waiting[]
}

/**
 * A connection on which tests send commands of their own. It is opened by the
 * first command, and again by the one that finds it lost; no command is sent twice.
 */
export class Connection {
  readonly #port: number
  #link: Link | undefined

  constructor(port: number) {
    this.#port = port
  }

  /** Rejects with {@link ReplyError} what Redis refuses, and with the socket's error what it did not answer. */
  send(words: readonly (string | number)[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#link ??= this.#open()
      this.#link.waiting.push({ resolve, reject })
      this.#link.socket.write(encodeRequest(words))
    })
  }

  /** Rejects what is unanswered. The next command opens a connection again. */
  close(): void {
    this.#link?.socket.destroy()
    this.#link = undefined
  }

  #open(): Link {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    const link: Link = { socket, waiting: [] }
    const replies = new Frames()
    let reason = new Error(`Redis on port ${this.#port} closed the connection`)
    socket.on('data', (chunk) => {
      for (const reply of replies.push(chunk)) {
        const value = decode(reply)
        const { resolve, reject } = link.waiting.shift() as Waiting
        if (value instanceof ReplyError) reject(value)
        else resolve(value)
      }
    })
    socket.on('error', (error) => {
      reason = error
    })
    socket.on('close', () => {
      if (this.#link === link) this.#link = undefined
      for (const { reject } of link.waiting) reject(reason)
    })
    return link
  }
}
