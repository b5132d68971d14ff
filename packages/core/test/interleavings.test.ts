import { getEventListeners } from 'node:events'
import {
  type CallContext,
  type CircuitBreaker,
  type CircuitBreakerOptions,
  CircuitIsolatedError,
  CircuitOpenError,
  circuitBreaker,
  memoryStore,
  TimeoutError,
} from '@tidegate/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isShared, Referee } from './support/referee'
import { Process, Random, World } from './support/simulation'
import { CALM, UnreliableStore } from './support/unreliable-store'

/*
 * Breakers of one name, each in a process of its own with a clock of its own, over
 * one store, in bad weather. A seed says all that happens; TIDEGATE_SEED runs one
 * of them again, TIDEGATE_LONG=1 runs many.
 */

const SHORT = 24
/** Weather that once broke something: the short form plays it as well. */
const FOUND = [100193231, 100316004]
const LONG = 1_500
const EPOCH = 1_800_000_000_000

const STORE_TIMEOUT_MS = 100
const SYNC_MS = 50
const WINDOW_MS = 3_000
const PROBE_TIMEOUT_MS = 250
const COOLDOWN_MAX_MS = 1_200

interface Instance {
  readonly index: number
  readonly process: Process
  readonly store: UnreliableStore
  readonly breaker: CircuitBreaker
  readonly forever: AbortSignal
  readonly told: ('storeDown' | 'storeUp')[]
  state: string
}

class Scenario {
  readonly seed: number
  readonly random: Random
  readonly world = new World()
  readonly referee: Referee
  readonly instances: Instance[]
  readonly inner
  readonly options: Partial<CircuitBreakerOptions>
  isDependencyUp = true
  /** From when on nothing goes wrong any more. */
  isWell = false
  isOver = false
  calls = 0
  through = 0
  pending = 0
  /** How far the store's clock is from the world's. */
  #storeOffset = EPOCH
  #sentTo = new Map<string, number>()

  constructor(seed: number) {
    this.seed = seed
    this.random = new Random(seed)
    const { random, world } = this
    let reached = 0
    // The store's time never goes back, whatever its clock does.
    const storeNow = () => {
      reached = Math.max(reached, world.now + this.#storeOffset)
      return reached
    }
    this.inner = memoryStore({ clock: { now: storeNow } })
    const isByTime = random.chance(0.75)
    this.referee = new Referee(() => world.now, storeNow, {
      // The window, what syncing may add, and the age at which a resend is given up.
      memoryMs: isByTime ? WINDOW_MS + WINDOW_MS / 10 + SYNC_MS + 4 * STORE_TIMEOUT_MS : Infinity,
    })
    const minReporters = random.pick([1, 1, 1, 2])
    this.options = {
      ...(isByTime
        ? { minimumCalls: random.between(2, 8), failureRate: 0.5, windowMs: WINDOW_MS }
        : { consecutiveFailures: random.between(2, 6) }),
      cooldownMs: 300,
      cooldownJitter: random.pick([0, 0.5]),
      cooldownBackoff: { factor: 2, maxMs: COOLDOWN_MAX_MS },
      successThreshold: random.pick([1, 1, 2, 3]),
      probeTimeoutMs: PROBE_TIMEOUT_MS,
      rampUpMs: random.pick([0, 0, 500]),
      consistency: random.pick(['mirror', 'mirror', 'strict']),
      whenStoreDown: random.pick(['spread', 'hold', 'local']),
      storeTimeoutMs: STORE_TIMEOUT_MS,
      syncMs: SYNC_MS,
      minReporters,
    }
    const push = random.chance(0.5)
    const size = random.between(Math.max(2, minReporters), 5)
    this.instances = Array.from({ length: size }, (_, index) => this.#instance(index, push))
  }

  /** Faults, flapping dependency, operators, frozen processes. */
  async storm(ms: number): Promise<void> {
    const { random, world } = this
    for (const instance of this.instances) this.#traffic(instance, () => random.between(3, 60))
    const end = world.now + ms
    while (world.now < end) {
      this.#changeSomething()
      await world.advance(random.between(20, 800))
    }
  }

  /** All is well: the fleet is to be closed, and of one mind, within bounded time. */
  async heal(): Promise<void> {
    const { world, instances } = this
    // Calls included: a healthy dependency whose calls went on failing by chance would open it again.
    this.isDependencyUp = true
    this.isWell = true
    for (const { store } of instances) {
      store.weather = { ...CALM }
      store.isReady = true
    }
    // Frozen processes go on, the store's clock catches up with itself, the store is taken up, switches arrive.
    await world.advance(9_000)
    const [first] = instances as [Instance]
    const reach = first.breaker.restore()
    await world.advance(500)
    if ((await reach) !== 'fleet') this.referee.violate('a switch did not reach a store that is well')
    await world.advance(3 * COOLDOWN_MAX_MS + 6 * PROBE_TIMEOUT_MS + 2_000)
    this.isOver = true
    const seen = instances.map(({ breaker }) => `${breaker.state} ${breaker.stats().fence}`)
    const { state, fence } = this.#peek()
    const isHealed = state === 'closed' && seen.every((one) => one === `closed ${fence}`)
    if (!isHealed) this.referee.violate(`not healed: ${state} ${fence}, seen as ${seen.join(', ')}`)
  }

  /** Nobody calls any more. */
  async idle(): Promise<void> {
    const { world, instances, referee } = this
    await world.advance(7_000)
    if (this.pending > 0) referee.violate(`${this.pending} calls never ended`)
    for (const [index, { process, told, breaker, forever, state }] of instances.entries()) {
      if (process.timers > 0) referee.violate(`${index} has ${process.timers} timers left`)
      if (told.some((event, at) => event !== (at % 2 === 0 ? 'storeDown' : 'storeUp'))) {
        referee.violate(`${index} told ${told.join(' ')}`)
      }
      if (told.at(-1) === 'storeDown') referee.violate(`${index} still holds the store to be down`)
      if (state !== breaker.state) referee.violate(`${index} is ${breaker.state}, and told ${state}`)
      const listeners = getEventListeners(forever, 'abort').length
      if (listeners > 0) referee.violate(`${index} left ${listeners} listeners on a signal`)
    }
  }

  #instance(index: number, push: boolean): Instance {
    const { random, world, referee, inner, options } = this
    // Fractions included: no clock shows whole milliseconds only.
    const process = new Process(world, random.chance(0.5) ? random.next() * 1e9 : EPOCH + random.next())
    const store = new UnreliableStore(inner, world, process, random, push, referee.witness)
    const breaker = circuitBreaker({
      name: 'payments',
      ...options,
      store,
      clock: process,
      random: new Random(this.seed + index).next,
    })
    const forever = new AbortController().signal
    const instance: Instance = { index, process, store, breaker, forever, told: [], state: 'closed' }
    breaker.on('storeDown', () => {
      instance.told.push('storeDown')
      referee.absent++
    })
    breaker.on('storeUp', () => {
      instance.told.push('storeUp')
      referee.absent--
    })
    breaker.on('probe', ({ fence, until }) => {
      referee.probe(index, isShared(fence) ? fence : `${index}/${fence}`, until)
    })
    breaker.on('transition', ({ from, to, fence, by }) => {
      if (from !== instance.state) referee.violate(`${index} left ${from}, and was ${instance.state}`)
      instance.state = to
      if (by === 'peer' || to === 'isolated' || !isShared(fence)) return
      const other = this.#sentTo.get(fence)
      if (other !== undefined && other !== index)
        referee.violate(`${fence} was begun by ${other} and ${index}`)
      this.#sentTo.set(fence, index)
    })
    breaker.on('reject', ({ retryAfterMs }) => {
      const isSane = retryAfterMs === undefined || (retryAfterMs > 0 && retryAfterMs < 90_000)
      if (!isSane) referee.violate(`rejected with retryAfterMs ${retryAfterMs}`)
    })
    return instance
  }

  #traffic(instance: Instance, pause: () => number): void {
    const next = () => {
      if (this.isOver) return
      void this.#call(instance)
      instance.process.deliver(pause(), next)
    }
    instance.process.deliver(pause(), next)
  }

  async #call(instance: Instance): Promise<void> {
    const { random, referee } = this
    const { process, breaker } = instance
    this.calls++
    this.pending++
    const asked = process.awake
    const own = new Error('of the function')
    const refusal = new CircuitOpenError('inner', undefined)
    const gone = random.pick([new Error('gone'), new DOMException('too long', 'TimeoutError')])
    const caller = random.chance(0.15) && !this.isWell ? new AbortController() : undefined
    if (caller !== undefined) process.deliver(random.between(0, 200), () => caller.abort(gone))
    const deadlineMs = random.chance(0.1) && !this.isWell ? random.between(1, 300) : undefined
    const signal = caller?.signal ?? (random.chance(0.3) ? instance.forever : undefined)
    let fence: string | undefined
    let ran: number | undefined
    const fn = (context: CallContext): Promise<string> => {
      if (ran !== undefined) referee.violate('a function ran twice')
      ran = process.awake
      // Fences of an instance's own are numbered by each.
      fence = isShared(context.fence) ? context.fence : `${instance.index}/${context.fence}`
      this.through++
      const waited = ran - asked
      if (waited > STORE_TIMEOUT_MS + 1e-3) referee.violate(`a call waited ${waited} ms before its function`)
      const isProbe = referee.isProbe(fence)
      if (isProbe) referee.startProbe(fence)
      const probed = fence
      const end = () => referee.endProbe(probed)
      if (random.chance(0.03) && !this.isWell) {
        end()
        throw own
      }
      const heeds = random.chance(0.5)
      const isBounded = isProbe || deadlineMs !== undefined || caller !== undefined
      const isUp = this.isWell || this.isDependencyUp !== random.chance(this.isDependencyUp ? 0.03 : 0.1)
      const takes = isBounded && random.chance(0.08) && !this.isWell ? undefined : this.#takes()
      return new Promise((resolve, reject) => {
        const settle = () => {
          end()
          if (random.chance(0.03) && !this.isWell) reject(refusal)
          else if (isUp) resolve('up')
          else reject(own)
        }
        if (takes !== undefined) process.deliver(takes, settle)
        if (isProbe || heeds) {
          context.signal.addEventListener('abort', () => {
            end()
            if (heeds) reject(context.signal.reason)
          })
        }
      })
    }
    let error: unknown
    try {
      await breaker.execute(fn, { signal, deadlineMs })
    } catch (thrown) {
      error = thrown
    }
    this.pending--
    const isTimeout = error instanceof TimeoutError || error === gone
    const isAllowed =
      error === undefined || error === own || error === refusal || (error === gone && caller !== undefined)
    if (!isAllowed && !(error instanceof CircuitOpenError || error instanceof CircuitIsolatedError)) {
      if (!(error instanceof TimeoutError)) referee.violate(`a call failed: ${String(error)}`)
    }
    if (ran === undefined) {
      const waited = process.awake - asked
      if (waited > STORE_TIMEOUT_MS + 1e-3) referee.violate(`a call waited ${waited} ms and never ran`)
      if (error === undefined) referee.violate('a call came to something, and never ran')
      return
    }
    if (fence === undefined || referee.isProbe(fence) || error === refusal) return
    if (error === gone && gone.name !== 'TimeoutError') return
    referee.outcome(fence, error === own || isTimeout)
  }

  #takes(): number {
    const { random } = this
    if (this.isWell || random.chance(0.85)) return random.between(0, 5)
    return random.chance(0.7) ? random.between(20, 400) : random.between(1_000, 5_000)
  }

  #changeSomething(): void {
    const { random, inner, referee } = this
    const instance = random.pick(this.instances)
    const { breaker, store, process } = instance
    switch (random.between(0, 13)) {
      case 0:
      case 1:
      case 2:
      case 3:
        this.isDependencyUp = !this.isDependencyUp
        break
      case 4:
      case 5:
        store.weather = this.#weather()
        break
      case 6:
        for (const one of this.instances) one.store.weather = this.#weather()
        break
      case 7:
        for (const one of this.instances) one.store.weather = { ...CALM }
        break
      case 8:
        store.weather = { ...store.weather, isCutOff: random.chance(0.3) }
        store.isReady = random.chance(0.7)
        break
      case 9:
        for (const one of this.instances) one.store.isReady = true
        break
      case 10:
        process.freeze(random.chance(0.5) ? random.between(50, 500) : random.between(500, 8_000))
        break
      case 11:
        // A store's clock that is set: on by any much, back by little, for its time stands still meanwhile.
        this.#storeOffset += random.chance(0.5) ? random.between(1, 60_000) : -random.between(1, 2_000)
        break
      case 12:
        if (random.chance(0.4)) {
          referee.voidPermits()
          inner.circuits.forget('payments')
        }
        break
      case 13: {
        const command = random.pick(['isolate', 'restore', 'restore', 'reset', 'flush'] as const)
        if (command !== 'flush') referee.voidPermits()
        void breaker[command]()
        break
      }
    }
  }

  #weather() {
    const { random } = this
    const share = (most: number) => (random.chance(0.4) ? random.next() * most : 0)
    return {
      isCutOff: false,
      slow: share(0.6),
      lostCommands: share(0.2),
      lostAnswers: share(0.3),
      repeats: share(0.5),
      rejects: share(0.3),
      throws: share(0.1),
      garbage: share(0.1),
    }
  }

  #peek() {
    const window = { kind: 'time', ms: WINDOW_MS } as const
    const terms = { instance: 'referee', nonce: 'peek', window, cooldownMs: 1, leaseMs: 1 }
    return this.inner.circuits.readState('payments', terms) as { state: string; fence: string }
  }
}

async function play(seed: number): Promise<Scenario> {
  const scenario = new Scenario(seed)
  await scenario.storm(15_000)
  await scenario.heal()
  await scenario.idle()
  return scenario
}

const { TIDEGATE_SEED, TIDEGATE_LONG } = process.env
// The short form plays the same weather each time; the long one looks for new.
const NEW = TIDEGATE_LONG === '1' ? Date.now() % 1_000_000_000 : 1
const first = TIDEGATE_SEED === undefined ? NEW : Number(TIDEGATE_SEED)
const count = TIDEGATE_SEED !== undefined ? 1 : TIDEGATE_LONG === '1' ? LONG : SHORT
const seeds = [...Array.from({ length: count }, (_, index) => first + index), ...(count > 1 ? FOUND : [])]

describe('a fleet in bad weather', () => {
  const unhandled: unknown[] = []
  const onUnhandled = (error: unknown) => unhandled.push(error)
  beforeAll(() => void process.on('unhandledRejection', onUnhandled))
  afterAll(() => void process.off('unhandledRejection', onUnhandled))

  it(`keeps its promises, and heals (${count} from TIDEGATE_SEED=${first})`, {
    timeout: 60 * 60_000,
  }, async () => {
    const totals = { calls: 0, through: 0, probes: 0, verdicts: 0, counted: 0 }
    for (const seed of seeds) {
      const { referee, options, instances, calls, through } = await play(seed)
      const broken = [...referee.violations, ...unhandled.map((error) => `unhandled: ${String(error)}`)]
      const setting = `TIDEGATE_SEED=${seed}, ${instances.length} instances, ${JSON.stringify(options)}`
      expect(broken.slice(0, 8).join('\n'), setting).toBe('')
      totals.calls += calls
      totals.through += through
      totals.probes += referee.probes
      totals.verdicts += referee.verdicts
      totals.counted += referee.counted
    }
    // A test in which nothing happens holds every promise.
    if (count > 1) expect(Math.min(totals.probes, totals.verdicts)).toBeGreaterThan(count)
    if (TIDEGATE_LONG === '1') console.log(`${count} seeds from ${first}:`, totals)
  })
})
