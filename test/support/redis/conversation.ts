import type { Fault } from './fault'
import { Frames } from './frames'
import { decodeRequest } from './resp'

/** What is done with a reply: passed on, kept from the client, or kept from him with the end of the link. */
type Fate = 'pass' | 'drop' | 'lose'

/** After these, messages come that nobody asked for, and no reply answers a request. */
const STREAMING = ['SUBSCRIBE', 'PSUBSCRIBE', 'SSUBSCRIBE', 'MONITOR']

/** Where the messages of a conversation go. */
export interface Ends {
  toServer(message: Buffer): void
  toClient(message: Buffer): void
  /** The link dies, once everything sent before has arrived. */
  breakOff(): void
}

export interface Faults {
  readonly lostReply: Fault
  readonly repetition: Fault
}

/** One client's talk with Redis: knows which reply answers which request, and does the faults to them. */
export class Conversation {
  readonly #ends: Ends
  readonly #faults: Faults
  readonly #requests: Frames = new Frames()
  readonly #replies: Frames = new Frames()
  /** One for each reply that is still to come. */
  readonly #fates: Fate[] = []
  #streaming = false
  #over = false

  constructor(ends: Ends, faults: Faults) {
    this.#ends = ends
    this.#faults = faults
  }

  /** Takes bytes of the client. Returns how many requests they completed. */
  asked(chunk: Buffer): number {
    const requests = this.#requests.push(chunk)
    for (const request of requests) {
      const words = decodeRequest(request)
      this.#streaming ||= STREAMING.includes(words[0] ?? '')
      const fates = this.#streaming ? [] : this.#fatesOf(words)
      this.#fates.push(...fates)
      const times = Math.max(1, fates.length)
      for (let sent = 0; sent < times; sent++) this.#ends.toServer(request)
    }
    return requests.length
  }

  /** Takes bytes of the server. */
  answered(chunk: Buffer): void {
    for (const message of this.#replies.push(chunk)) {
      if (this.#over) return
      // A push of RESP3 answers nothing; a message to a subscriber finds no fate either.
      const fate = isPush(message) ? 'pass' : (this.#fates.shift() ?? 'pass')
      if (fate === 'pass') this.#ends.toClient(message)
      if (fate === 'lose') {
        this.#over = true
        this.#ends.breakOff()
      }
    }
  }

  #fatesOf(words: readonly string[]): Fate[] {
    const fate = this.#faults.lostReply.befalls(words) ? 'lose' : 'pass'
    // The first time's reply is the one that is dropped: when the link is to die, both were executed by then.
    return this.#faults.repetition.befalls(words) ? ['drop', fate] : [fate]
  }
}

function isPush(message: Buffer): boolean {
  return message.toString('latin1', 0, 1) === '>'
}
