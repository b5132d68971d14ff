// One instance of the fleet that is timed: calls at a steady pace until it fails fast, and tells when that was.
import { circuitBreaker } from '@tidegate/core'
import { ioredisStore } from '@tidegate/store-ioredis'
import { Redis } from 'ioredis'

export interface Witness {
  readonly port: number
  readonly pushes: boolean
  readonly minimumCalls: number
  readonly syncMs: number
}

/** Moments are epoch ms by the machine's clock. */
export type Request =
  /** Begins another period, and answers with its fence. */
  | { readonly do: 'reset' }
  /** Answers once this instance is in that period. */
  | { readonly do: 'join'; readonly fence: string }
  /** Calls until it fails fast, and answers with a report. */
  | { readonly do: 'call'; readonly from: number; readonly downFrom: number }

export interface Report {
  /** When each call came to something, and whether it failed. */
  readonly outcomes: readonly (readonly [at: number, failed: boolean])[]
  /** When this instance began to fail fast. */
  readonly openedAt: number
  /** How long the store took to answer each of this instance's tallies, in ms. */
  readonly roundTripsMs: readonly number[]
}

const EVERY_MS = 4

const { port, pushes, minimumCalls, syncMs } = JSON.parse(process.argv[2] ?? '{}') as Witness
const redis = new Redis(port)
const store = ioredisStore(redis)
let roundTripsMs: number[] = []
const { circuits, supports } = store
const breaker = circuitBreaker({
  name: 'timed',
  store: {
    ...store,
    supports: { ...supports, push: pushes },
    circuits: {
      ...circuits,
      async record(...command) {
        const sentAt = now()
        const answer = await circuits.record(...command)
        roundTripsMs.push(now() - sentAt)
        return answer
      },
    },
  },
  minimumCalls,
  syncMs,
  windowMs: 30_000,
  cooldownMs: 60_000,
})
// A call that comes before the client is connected is decided alone.
await store.ping()
await breaker.execute(async () => 1).catch(() => {})

let outcomes: [number, boolean][] = []
let openedAt = 0
breaker.on('transition', ({ to }) => {
  if (to === 'open') openedAt = now()
})

process.on('message', async (request: Request) => process.send?.(await answer(request)))
process.once('disconnect', async () => {
  await breaker.close()
  await store.close()
  redis.disconnect()
})
process.send?.('ready')

async function answer(request: Request): Promise<unknown> {
  switch (request.do) {
    case 'reset':
      await breaker.reset()
      return breaker.stats().fence
    case 'join':
      outcomes = []
      while (breaker.stats().fence !== request.fence) await call(false, request.fence)
      return 'joined'
    case 'call':
      return await play(request.from, request.downFrom)
  }
}

async function play(from: number, downFrom: number): Promise<Report> {
  const { fence } = breaker.stats()
  openedAt = 0
  roundTripsMs = []
  // Each a little beside the others, as users are.
  await sleep(Math.max(0, from + Math.random() * EVERY_MS - now()))
  while (openedAt === 0) await call(now() >= downFrom, fence)
  return { outcomes, openedAt, roundTripsMs }
}

async function call(fails: boolean, period: string): Promise<void> {
  const run = async ({ fence }: { readonly fence: string }): Promise<void> => {
    if (fence === period) outcomes.push([now(), fails])
    if (fails) throw new Error('down')
  }
  await breaker.execute(run).catch(() => {})
  await sleep(EVERY_MS)
}

function now(): number {
  return performance.timeOrigin + performance.now()
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
