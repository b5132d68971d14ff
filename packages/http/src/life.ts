import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, systemClock } from '@tidegate/core'
import { ClientGoneError } from './client-gone'
import { onSocketClose } from './sockets'

/** Where a request is: waited for, left by its client, or answered to the last byte. */
type Phase = 'waited-for' | 'gone' | 'answered'

/**
 * How long a request matters: until its answer is out, or its client has gone.
 * It listens to nothing until somebody asks for the signal, and to nothing after
 * the end.
 */
export class RequestLife {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #clock: Clock
  readonly #beganAt: number
  #controller: AbortController | undefined

  constructor(request: IncomingMessage, response: ServerResponse, clock: Clock = systemClock) {
    this.#request = request
    this.#response = response
    this.#clock = clock
    this.#beganAt = clock.now()
  }

  /** Aborts when the client goes away before the answer is out; with a {@link ClientGoneError}, never otherwise. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      this.#watch(this.#controller)
    }
    return this.#controller.signal
  }

  get isClientGone(): boolean {
    return this.#controller?.signal.aborted === true || this.#phase === 'gone'
  }

  /** What is left of a time that began with the request, in whole ms, at least 0. */
  leftOf(ms: number): number {
    return Math.max(0, Math.floor(ms - (this.#clock.now() - this.#beganAt)))
  }

  get #phase(): Phase {
    // First, because a response that is through is destroyed as well.
    if (this.#response.writableFinished) return 'answered'
    return this.#response.destroyed || this.#request.socket.destroyed ? 'gone' : 'waited-for'
  }

  #watch(controller: AbortController): void {
    const response = this.#response
    const end = (): void => {
      response.off('close', end)
      stop()
      if (this.#phase === 'gone') controller.abort(new ClientGoneError())
    }
    if (this.#phase === 'gone') controller.abort(new ClientGoneError())
    if (this.#phase !== 'waited-for') return
    // Not the request's own `close`: it comes as soon as a body has been read. And not the
    // response's alone: up to Node.js 22, one that waits behind another on its socket never
    // closes when that socket dies.
    response.on('close', end)
    const stop = onSocketClose(this.#request.socket, end)
  }
}

const lives = new WeakMap<ServerResponse, RequestLife>()

/** The life of a request: the same one for all who ask, begun when the first did. */
export function lifeOf(request: IncomingMessage, response: ServerResponse): RequestLife {
  let life = lives.get(response)
  if (life === undefined) {
    life = new RequestLife(request, response)
    lives.set(response, life)
  }
  return life
}
