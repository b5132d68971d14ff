import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type CircuitBreaker, type CircuitBreakerOptions, type Clock, circuitBreaker } from '@tidegate/core'
import express5 from 'express'
import express4 from 'express4'
import { onTestFinished } from 'vitest'
import type { Bindable, Bound, ErrorHandler, Handler, Next } from '../src/index'

/** What the tests use of an application; both Express are that. */
export interface App {
  use(handler: Handler | ErrorHandler): unknown
  get(path: string, ...handlers: Handler[]): unknown
  post(path: string, ...handlers: Handler[]): unknown
  set(name: string, value: unknown): unknown
}

export type Request = IncomingMessage & { outbound: Record<string, Bound<Bindable>> }
export type AsyncHandler = (req: Request, res: ServerResponse, next: Next) => Promise<unknown>

export interface Framework {
  app(): App
  /** A handler that may reject: Express 5 waits for it, Express 4 is told. */
  async(handler: AsyncHandler): Handler
}

export const frameworks: [string, Framework][] = [
  [
    'Express 5',
    { app: () => express5() as unknown as App, async: (handler) => handler as unknown as Handler },
  ],
  [
    'Express 4',
    {
      app: () => express4() as unknown as App,
      async: (handler) => (req, res, next) => void handler(req as Request, res, next).catch(next),
    },
  ],
]

/** A clock that stands still until it is moved. */
export class HandClock implements Clock {
  #time = 1_000_000
  #timers = new Set<{ at: number; callback: () => void }>()

  now = (): number => this.#time

  setTimeout = (callback: () => void, ms: number): (() => void) => {
    const timer = { at: this.#time + ms, callback }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  advance(ms: number): void {
    this.#time += ms
    for (const timer of [...this.#timers]) {
      if (timer.at <= this.#time && this.#timers.delete(timer)) timer.callback()
    }
  }
}

/** A breaker that opens at its first failure, for 1.5 s of the clock's. */
export function breaker(options: Partial<CircuitBreakerOptions> = {}): {
  payments: CircuitBreaker
  clock: HandClock
} {
  const clock = new HandClock()
  const payments = circuitBreaker({
    name: 'payments',
    consecutiveFailures: 1,
    cooldownMs: 1_500,
    cooldownJitter: 0,
    clock,
    ...options,
  })
  return { payments, clock }
}

export async function open(payments: CircuitBreaker): Promise<void> {
  await payments.execute(() => Promise.reject(new Error('down'))).catch(() => {})
  if (payments.state !== 'open') throw new Error(`the circuit is ${payments.state}`)
}

interface Answered {
  readonly status: number
  readonly message: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Served {
  readonly port: number
  /** The sockets of the server's side, in the order in which they came. */
  readonly sockets: readonly Socket[]
  ask(path: string, options?: { method?: string; accept?: string; body?: string }): Promise<Answered>
  /** A client that writes what it is told, and leaves without a word. */
  raw(text: string): Promise<Socket>
}

export async function serve(app: App): Promise<Served> {
  const server = createServer(app as unknown as Handler & ((...args: unknown[]) => void))
  const sockets: Socket[] = []
  server.on('connection', (socket) => sockets.push(socket))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    port,
    sockets,
    ask: async (path, { method = 'GET', accept, body } = {}) => {
      const headers = accept === undefined ? {} : { accept }
      const sent = request({ port, path, method, headers, agent: false })
      sent.end(body)
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      let text = ''
      for await (const chunk of answer.setEncoding('utf8')) text += chunk
      const { statusCode = 0, statusMessage = '' } = answer
      return { status: statusCode, message: statusMessage, headers: answer.headers, body: text }
    },
    raw: async (text) => {
      const client = connect(port, '127.0.0.1')
      client.on('error', () => {})
      await once(client, 'connect')
      client.write(text)
      return client
    },
  }
}

export const GET = 'GET / HTTP/1.1\r\nHost: test\r\n\r\n'

/** A promise and what settles it. */
export function gate<T = void>(): { promise: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => {}
  const promise = new Promise<T>((resolve) => {
    open = resolve
  })
  return { promise, open }
}
