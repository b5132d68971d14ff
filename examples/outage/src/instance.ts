import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CircuitBreaker, circuitBreaker, type Store } from '@tidegate/core'
import { circuitGuard, outbound, problems } from '@tidegate/express'
import express, { type NextFunction, type Request, type Response } from 'express'
import { moment } from './moment'
import { PATIENCE_MS } from './schedule'

export interface Instance {
  readonly name: string
  readonly url: string
  readonly payments: CircuitBreaker
  close(): Promise<void>
}

/** One Express application, as any of a fleet: what it knows of the others it knows from the store. */
export async function startInstance(name: string, store: Store, dependency: string): Promise<Instance> {
  const payments = circuitBreaker({
    name: 'payments',
    store,
    minimumCalls: 10,
    windowMs: 1_000,
    cooldownMs: 900,
    cooldownBackoff: { factor: 1.2, maxMs: 1_500 },
    probeTimeoutMs: PATIENCE_MS,
  })
  let permit = ''
  payments.on('probe', ({ fence }) => {
    permit = fence
  })
  const call = async (path: string, signal: AbortSignal, fence: string): Promise<globalThis.Response> => {
    // For the dependency to count: those of a real application would not say so much.
    const sentAt = moment()
    const headers = { 'x-instance': name, 'x-sent-at': String(sentAt) }
    // A probe is given up when its time is over, and its permit runs out no sooner.
    const probe = { ...headers, 'x-permit-until': String(sentAt + PATIENCE_MS) }
    const answer = await fetch(dependency + path, {
      signal,
      headers: fence === permit ? probe : headers,
    })
    await answer.text()
    return answer
  }

  const app = express()
  app.use(outbound({ payments }, { deadlineMs: PATIENCE_MS }))
  app.get('/pay', circuitGuard(payments), async (req, res) => {
    const answer = await req.outbound.payments?.execute(({ signal, fence }) => call('/charge', signal, fence))
    res.status(answer?.ok ? 200 : 502).send(answer?.ok ? 'paid' : 'the payment failed')
  })
  // Calls without a deadline. First ones, made before there are users, may take longer than any later.
  app.get('/warm-up', async (_req, res) => {
    const answer = await payments.execute(({ signal, fence }) => call('/charge', signal, fence))
    res.status(answer.ok ? 200 : 502).end()
  })
  // And the one that comes back when everybody has forgotten it.
  app.get('/report', async (_req, res) => {
    const answer = await payments.execute(({ signal, fence }) => call('/report', signal, fence))
    res.status(answer.ok ? 200 : 502).end()
  })
  app.use(problems())
  // What is left are the dependency's own errors: a connection that broke.
  app.use((_error: unknown, _req: Request, res: Response, _next: NextFunction) => res.status(502).end())

  const server: Server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
    await payments.close()
  }
  return { name, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, payments, close }
}
