import { createServer } from 'node:http'
import { type CircuitBreaker, circuitBreaker, compose, fallback, staleCache, timeout } from '@tidegate/core'
import { outbound, problems } from '@tidegate/express'
import express, { type NextFunction, type Request, type Response } from 'express'
import { closed, listening } from './serving'

export interface Shop {
  readonly url: string
  readonly circuit: CircuitBreaker
  close(): Promise<void>
}

/** Failures in a row that open the circuit. */
export const TRIPS_AFTER = 3

interface Price {
  readonly cents: number
}

/** The application: one dependency behind one circuit, and three ways to answer without it. */
export async function startShop(catalogue: string): Promise<Shop> {
  const circuit = circuitBreaker({ name: 'catalogue', consecutiveFailures: TRIPS_AFTER, cooldownMs: 500 })
  // Within the circuit and what answers instead: a call that hangs is a failure, and is answered for.
  const guarded = compose(circuit, timeout({ name: 'catalogue', timeoutMs: 2_000 }))

  // Cached: while the circuit is open, the last good answer of the same key, marked as old.
  const lastPrice = staleCache({
    name: 'prices',
    maxAgeMs: 60 * 60_000,
    markStale: (price, { ageMs }) => ({ ...(price as Price), stale: true, ageMs: Math.round(ageMs) }),
  })
  // Feature off: after any failure there is nothing, and the page goes without.
  const noReviews = fallback({ name: 'reviews', fallback: undefined })
  // Default answer: what is right for most, and says that it was not looked up.
  const usualDelivery = fallback({ name: 'delivery', fallback: { days: 5, usual: true } })

  const ask = async <T>(path: string, signal: AbortSignal): Promise<T> => {
    const answer = await fetch(catalogue + path, { signal })
    // With its status, by which a circuit tells a dependency that failed from one that said no.
    if (!answer.ok)
      throw Object.assign(new Error(`the catalogue answered ${answer.status}`), { status: answer.status })
    return (await answer.json()) as T
  }

  const app = express()
  app.use(
    outbound({
      prices: compose(lastPrice, guarded),
      reviews: compose(noReviews, guarded),
      delivery: compose(usualDelivery, guarded),
    }),
  )
  app.get('/price/:product', async (req, res) => {
    const key = req.params.product
    const path = `/prices/${encodeURIComponent(key)}`
    const price = await req.outbound.prices?.execute(({ signal }) => ask<Price>(path, signal), { key })
    res.json({ stale: false, ...price })
  })
  app.get('/teapot', async (req, res) => {
    const reviews = await req.outbound.reviews?.execute<readonly string[] | undefined>(({ signal }) =>
      ask('/reviews/teapot', signal),
    )
    res.type('html').send(page(reviews))
  })
  app.get('/delivery', async (req, res) => {
    res.json(await req.outbound.delivery?.execute(({ signal }) => ask('/delivery', signal)))
  })
  app.use(problems())
  // What is left are the dependency's own errors, before the circuit opens or of a probe.
  app.use((_error: unknown, _req: Request, res: Response, _next: NextFunction) => res.status(502).end())

  const server = createServer(app)
  const close = async (): Promise<void> => {
    await closed(server)
    await circuit.close()
  }
  return { url: await listening(server), circuit, close }
}

function page(reviews: readonly string[] | undefined): string {
  const items = reviews?.map((review) => `<li>${review}</li>`).join('')
  return `<h1>Teapot</h1>${items === undefined ? '' : `<h2>Reviews</h2><ul>${items}</ul>`}`
}
