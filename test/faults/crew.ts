import { setTimeout as sleep } from 'node:timers/promises'
import { type CircuitBreaker, circuitBreaker, type Store } from '@tidegate/core'
import { ioredisStore } from '@tidegate/store-ioredis'
import { Redis, type RedisOptions } from 'ioredis'
import { until } from '../support/until'

/** How a client is configured; of `replyMapping` the types of ioredis allow no undefined. */
export type Client = Omit<RedisOptions, 'replyMapping'>

const STORE_TIMEOUT_MS = 250

/** What a call may take beyond the store's time before it counts as held up: one turn of a busy event loop. */
const GRACE_MS = 100

/** Callers of each instance, and how long each thinks between two calls. */
const CALLERS = 4
const THINK_MS = 5

export interface Instance {
  readonly redis: Redis
  readonly store: Store
  readonly breaker: CircuitBreaker
  /** Whether its breaker holds the store to be away. */
  isAway: boolean
  /** How often it said that the store went away. */
  outages: number
}

/** Instances in this process, each with a client of its own, that call a dependency which is well, all the time. */
export class Crew implements AsyncDisposable {
  readonly instances: readonly Instance[]
  calls = 0
  /** Calls that waited longer than a store may take. */
  heldUp = 0
  /** What calls came to that should have come to nothing but 'up'. */
  readonly failures: unknown[] = []
  #isOver = false
  readonly #loops: Promise<void>[]

  constructor(size: number, client: Client) {
    this.instances = Array.from({ length: size }, () => instanceOver(new Redis(client)))
    this.#loops = this.instances.flatMap((instance) =>
      Array.from({ length: CALLERS }, () => this.#call(instance.breaker)),
    )
  }

  get clientsReady(): boolean {
    return this.instances.every(({ redis }) => redis.status === 'ready')
  }

  get away(): number {
    return this.instances.filter(({ isAway }) => isAway).length
  }

  /** Waits until so many calls more have been made. */
  async callsGoOn(more: number): Promise<void> {
    const enough = this.calls + more
    await until(`${more} calls more`, () => this.calls >= enough)
  }

  /** One switch, thrown here, is heard of by all, and taken back. */
  async agrees(withinMs: number): Promise<void> {
    const [first, ...others] = this.instances as [Instance, ...Instance[]]
    const before = this.failures.length
    const reach = await first.breaker.isolate()
    if (reach !== 'fleet') throw new Error(`the isolation reached '${reach}'`)
    await this.#allSee('isolated', withinMs)
    const { fence } = first.breaker.stats()
    for (const { breaker } of others) {
      if (breaker.stats().fence !== fence) throw new Error('isolated in two periods')
    }
    await first.breaker.restore()
    await this.#allSee('closed', withinMs)
    // Who is isolated is refused, and that was the point.
    this.failures.splice(before)
  }

  async #allSee(state: string, withinMs: number): Promise<void> {
    const seen = () => this.instances.map(({ breaker }) => breaker.state)
    await until(
      `everybody to be ${state}, seen: ${seen()}`,
      () => seen().every((one) => one === state),
      withinMs,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#loops)
    for (const { redis, store, breaker } of this.instances) {
      await breaker.close()
      await store.close()
      redis.disconnect()
    }
  }

  async #call(breaker: CircuitBreaker): Promise<void> {
    while (!this.#isOver) {
      const call = breaker.execute(async () => 'up').catch((error: unknown) => this.failures.push(error))
      // Both timers are of one event loop: however late it is, the one that is due first fires first.
      const given = new AbortController()
      const late = sleep(STORE_TIMEOUT_MS + GRACE_MS, 'late', { signal: given.signal }).catch(() => {})
      if ((await Promise.race([call, late])) === 'late') this.heldUp++
      given.abort()
      await call
      this.calls++
      await sleep(THINK_MS)
    }
  }
}

function instanceOver(redis: Redis): Instance {
  redis.on('error', () => {})
  const store = ioredisStore(redis)
  const breaker = circuitBreaker({
    name: 'payments',
    store,
    minimumCalls: 20,
    cooldownMs: 300,
    syncMs: 50,
    storeTimeoutMs: STORE_TIMEOUT_MS,
  })
  const instance: Instance = { redis, store, breaker, isAway: false, outages: 0 }
  breaker.on('storeDown', () => {
    instance.isAway = true
    instance.outages++
  })
  breaker.on('storeUp', () => {
    instance.isAway = false
  })
  return instance
}
