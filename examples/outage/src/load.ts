import { Agent, get } from 'node:http'
import type { Instance } from './instance'

/** What a user got. */
export interface Answer {
  readonly instance: string
  readonly status: number
  readonly at: number
  readonly tookMs: number
}

const EVERY_MS = 25

/** Users of one instance, who come at a steady pace whether or not they are answered. */
export class Load {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #instance: Instance
  readonly #onAnswer: (answer: Answer) => void
  #timer: NodeJS.Timeout | undefined

  constructor(instance: Instance, onAnswer: (answer: Answer) => void) {
    this.#instance = instance
    this.#onAnswer = onAnswer
  }

  start(): void {
    this.#timer = setInterval(() => this.request('/pay'), EVERY_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#agent.destroy()
  }

  request(path: string): void {
    const start = performance.now()
    const done = (status: number): void => {
      const at = performance.now()
      if (path === '/pay') this.#onAnswer({ instance: this.#instance.name, status, at, tookMs: at - start })
    }
    get(this.#instance.url + path, { agent: this.#agent }, (res) => {
      res.resume().on('end', () => done(res.statusCode ?? 0))
    }).on('error', () => done(0))
  }
}
