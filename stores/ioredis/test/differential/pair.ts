import {
  type CircuitSnapshot,
  type CircuitWindow,
  fenceNonce,
  type RecordAnswer,
  type Store,
  type SwapAnswer,
  type Tally,
  type Terms,
} from '@tidegate/contract'
import { expect } from 'vitest'
import { memoryStore } from '../../../memory/src'
import type { Client } from '../support/clients'
import { type FrozenClock, frozenClock } from '../support/frozen-clock'
import { comparisonOf } from './allowed'
import type { RecordStep, Step, SwapStep } from './steps'

/** A period has a fence in each store. */
interface Period {
  readonly memory: string
  readonly redis: string
}

type Deliver = () => Promise<CircuitSnapshot>

/** One circuit in two stores, which are told the same at the same moments, and have to answer the same. */
export class Pair {
  readonly #memory: Store
  readonly #redis: FrozenClock
  readonly #name: string
  readonly #windows: readonly CircuitWindow[]
  readonly #periods: Period[] = []
  readonly #sent: Deliver[] = []
  readonly #numbers = new Map<string, number>()
  /** The window of the first tally of each period, by its fence in memory; undefined where that was a repeat. */
  readonly #firstWindows = new Map<string, CircuitWindow | undefined>()
  #now = Date.UTC(2026, 0, 1)
  #present: CircuitSnapshot | undefined
  #nonces = 0

  constructor(redis: Client, name: string, windows: readonly CircuitWindow[]) {
    this.#memory = memoryStore({ clock: { now: () => this.#now } })
    this.#redis = frozenClock(redis)
    this.#name = name
    this.#windows = windows
  }

  async play(steps: readonly Step[]): Promise<void> {
    await this.#read({ instance: 'first', window: this.#windows[0] as CircuitWindow })()
    for (const step of steps) {
      this.#advance(step.waitMs)
      await this.#take(step)
    }
    await this.forget()
  }

  async forget(): Promise<void> {
    // In the same microsecond the next fence would not have to be a later one.
    this.#advance(1)
    await Promise.all([
      this.#memory.circuits.forget(this.#name),
      this.#redis.store.circuits.forget(this.#name),
    ])
  }

  async #take(step: Step): Promise<void> {
    switch (step.is) {
      case 'read':
        return this.#send(this.#read({ instance: step.by, window: step.window }))
      case 'swap':
        return this.#send(this.#swap(step))
      case 'record':
        return this.#send(this.#record(step))
      case 'again':
        return this.#send(
          this.#sent.at(-1 - step.back) ??
            (() => this.#read({ instance: 'a', window: this.#windows[0] as CircuitWindow })()),
        )
      case 'forget':
        return this.forget()
    }
  }

  async #send(deliver: Deliver): Promise<void> {
    this.#present = await deliver()
    this.#sent.push(deliver)
  }

  #read(over: Pick<Terms, 'instance' | 'window'>): Deliver {
    const terms = this.#terms(over)
    return async () => {
      const [memory, redis] = await this.#ask(({ circuits }) => circuits.readState(this.#name, terms))
      return this.#sameSnapshot(memory, redis)
    }
  }

  #swap({ by, window, from, to, fencesBack, deadlineIn, cooldownMs, leaseMs, ...rest }: SwapStep): Deliver {
    const owner = rest.owner ?? this.#present?.probe?.owner ?? by
    const terms = this.#terms({
      instance: by,
      window,
      cooldownMs,
      leaseMs,
      ...this.#deadline(deadlineIn),
      ...(to === 'half-open' ? { owner } : {}),
      ...(rest.yield ? { yield: true } : {}),
      ...(rest.succeeded ? { succeeded: true } : {}),
    })
    const state = from ?? this.#present?.state ?? 'closed'
    const fence = this.#fence(fencesBack)
    return async () => {
      const [memory, redis] = await this.#ask<SwapAnswer>(({ circuits }, own) =>
        circuits.compareAndSet(this.#name, state, to, own(fence), terms),
      )
      expect(redis.ok, 'whether it landed').toBe(memory.ok)
      return this.#sameSnapshot(memory.snapshot, redis.snapshot)
    }
  }

  #record({ by, window, fencesBack, deadlineIn, seqOn, ...outcomes }: RecordStep): Deliver {
    const terms = this.#terms({ instance: by, window, ...this.#deadline(deadlineIn) })
    const fence = this.#fence(fencesBack)
    const tally = this.#tally(by, seqOn, outcomes)
    let isNew = seqOn > 0
    return async () => {
      const [memory, redis] = await this.#ask<RecordAnswer>(({ circuits }, own) =>
        circuits.record(this.#name, own(fence), tally, terms),
      )
      expect(redis.counted, 'whether it is counted').toBe(memory.counted)
      const snapshot = this.#sameSnapshot(memory.snapshot, redis.snapshot)
      this.#sameCounters(window, isNew, memory, redis)
      isNew = false
      return snapshot
    }
  }

  #tally(
    by: string,
    seqOn: number,
    { leading, successes, trailing, slow }: Pick<RecordStep, 'leading' | 'successes' | 'trailing' | 'slow'>,
  ): Tally {
    const seq = Math.max(0, (this.#numbers.get(by) ?? 0) + seqOn)
    this.#numbers.set(by, Math.max(seq, this.#numbers.get(by) ?? 0))
    const failures = leading + trailing
    const trailingFailures = successes === 0 ? failures : trailing
    return { seq, successes, failures, slow: Math.min(slow, successes + failures), trailingFailures }
  }

  #terms(over: Partial<Terms> & Pick<Terms, 'instance' | 'window'>): Terms {
    return { nonce: `nonce-${++this.#nonces}`, cooldownMs: 1, leaseMs: 1, ...over }
  }

  #deadline(inMs: number | undefined): Pick<Terms, 'deadline'> {
    return inMs === undefined ? {} : { deadline: this.#now + inMs }
  }

  #fence(back: number): Period {
    return this.#periods.at(-1 - back) ?? (this.#periods[0] as Period)
  }

  /** Asks both at the same moment. A fence goes to each by the name that it has there. */
  async #ask<Answer>(
    command: (store: Store, own: (period: Period) => string) => Answer | Promise<Answer>,
  ): Promise<readonly [memory: Answer, redis: Answer]> {
    const memory = await command(this.#memory, ({ memory }) => memory)
    const [, redis] = await Promise.all([
      this.#redis.set(this.#now),
      command(this.#redis.store, ({ redis }) => redis),
    ])
    return [memory, redis]
  }

  #sameSnapshot(memory: CircuitSnapshot, redis: CircuitSnapshot): CircuitSnapshot {
    const { fence: memoryFence, ...mine } = memory
    const { fence: redisFence, ...theirs } = redis
    expect(theirs, 'the circuit').toEqual(mine)
    expect(fenceNonce(redisFence), 'the nonce of the fence').toBe(fenceNonce(memoryFence))
    const last = this.#periods.at(-1)
    if (memoryFence === last?.memory) expect(redisFence, 'the fence').toBe(last.redis)
    else {
      if (last)
        expect([memoryFence > last.memory, redisFence > last.redis], 'later fences').toEqual([true, true])
      this.#periods.push({ memory: memoryFence, redis: redisFence })
    }
    return memory
  }

  #sameCounters(window: CircuitWindow, isNew: boolean, memory: RecordAnswer, redis: RecordAnswer): void {
    const { fence } = memory.snapshot
    if (memory.counted && !this.#firstWindows.has(fence))
      this.#firstWindows.set(fence, isNew ? window : undefined)
    // Beyond four, any of them may have been dropped, and begun anew.
    const isWhole = this.#firstWindows.get(fence) === window && this.#windows.length <= 4
    const { same, atLeast } = comparisonOf(window, isWhole)
    const { reporters, failures, consecutiveFailures } = redis.counters
    expect(reporters, 'reporters of failures').toBeLessThanOrEqual(
      window.kind === 'time' ? failures : consecutiveFailures,
    )
    for (const field of same) expect(redis.counters[field], field).toBe(memory.counters[field])
    for (const field of atLeast)
      expect(redis.counters[field], field).toBeGreaterThanOrEqual(memory.counters[field])
  }

  /**
   * Time goes on; by a little more where the two put a moment on either side of the
   * line between two buckets: in memory a tenth of the window is rounded first.
   */
  #advance(ms: number): void {
    this.#now += ms
    while (this.#windows.some((window) => isOnALine(this.#now, window))) this.#now++
  }
}

function isOnALine(now: number, window: CircuitWindow): boolean {
  if (window.kind !== 'time') return false
  const buckets = Math.min(10, window.ms)
  return Math.floor(now / (window.ms / buckets)) !== Math.floor((now * buckets) / window.ms)
}
