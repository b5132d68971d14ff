import { Agent, get } from 'node:http'
import type { Member } from './fleet'
import { moment } from './moment'

/** What a user got. */
export interface Answer {
  readonly instance: string
  readonly status: number
  readonly at: number
  readonly tookMs: number
}

const EVERY_MS = 25
/** An instance is warm when so many calls in a row were quick; it is waited for no longer than that. */
const WARM = { calls: 30, quickMs: 60, patienceMs: 10_000 }

/** Users of one instance, who come at a steady pace whether or not they are answered. */
export class Load {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #instance: Member
  readonly #onAnswer: (answer: Answer) => void
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(instance: Member, onAnswer: (answer: Answer) => void) {
    this.#instance = instance
    this.#onAnswer = onAnswer
  }

  /** A process that has just begun is slow. That is nothing to hold against its dependency. */
  async warmUp(): Promise<void> {
    const end = moment() + WARM.patienceMs
    let start = moment()
    for (let quick = 0; quick < WARM.calls && start < end; ) {
      await this.request('/warm-up')
      const now = moment()
      quick = now - start < WARM.quickMs ? quick + 1 : 0
      start = now
    }
  }

  start(): void {
    this.#timer = setInterval(() => void this.#pay(), EVERY_MS)
  }

  /** Those who are still waiting hear nothing more, and are not counted. */
  stop(): void {
    this.#isOver = true
    clearInterval(this.#timer)
    this.#agent.destroy()
  }

  /** @returns the status; 0 where there was no answer */
  request(path: string): Promise<number> {
    return new Promise((resolve) => {
      get(this.#instance.url + path, { agent: this.#agent }, (res) => {
        res.resume().on('close', () => resolve(res.complete ? (res.statusCode ?? 0) : 0))
      }).on('error', () => resolve(0))
    })
  }

  async #pay(): Promise<void> {
    const start = moment()
    const status = await this.request('/pay')
    const at = moment()
    if (!this.#isOver) this.#onAnswer({ instance: this.#instance.name, status, at, tookMs: at - start })
  }
}
