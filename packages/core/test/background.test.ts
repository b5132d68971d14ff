import { type CircuitBreaker, circuitBreaker } from '@tidegate/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { breakerOf, down, failTimes, fleetOf, ignore, listen, up } from './support/subject'
import { settled, VirtualClock } from './support/virtual-clock'

/* What goes wrong where no call waits for it reaches no call, and stops nothing for good. */

const unhandled: unknown[] = []
const onUnhandled = (error: unknown) => unhandled.push(error)
const complaints: unknown[][] = []
const { error } = console

beforeEach(() => {
  unhandled.length = complaints.length = 0
  process.on('unhandledRejection', onUnhandled)
  console.error = (...args: unknown[]) => complaints.push(args)
})

afterEach(() => {
  process.off('unhandledRejection', onUnhandled)
  console.error = error
  expect(unhandled).toEqual([])
})

const broken: readonly (readonly [string, () => unknown])[] = [
  [
    'throws',
    () => {
      throw new Error('no dice')
    },
  ],
  ['gives NaN', () => Number.NaN],
  ['gives 1', () => 1],
  ['gives less than 0', () => -1],
  ['gives no number', () => '0.5'],
]

describe('a random that', () => {
  for (const [what, random] of broken) {
    it(`${what} is done without, and said once`, async () => {
      const { clock, breakers } = fleetOf(1, {
        random: random as () => number,
        cooldownJitter: 0.5,
        rampUpMs: 100,
      })
      const [breaker] = breakers as [CircuitBreaker]
      for (let round = 0; round < 2; round++) {
        await failTimes(breaker, 4)
        expect(breaker.state).toBe('open')
        const { retryAfterMs } = breaker.rejection() as { retryAfterMs: number }
        expect(retryAfterMs).toBeGreaterThanOrEqual(1_000)
        await clock.advance(3_000)
        await breaker.execute(up)
        await settled()
        expect(breaker.state).toBe('closed')
        await clock.advance(100)
      }
      expect(complaints).toHaveLength(1)
      expect(String(complaints[0])).toContain('random')
    })

    it(`${what} gives no caller an error that is not its own`, async () => {
      const breaker = breakerOf(new VirtualClock(), { random: random as () => number })
      for (let call = 0; call < 4; call++) await expect(breaker.execute(down)).rejects.toThrow('down')
      expect(breaker.state).toBe('open')
    })

    it(`${what} is no reason to be without a store for good`, async () => {
      const { clock, store, breakers } = fleetOf(1, { random: random as () => number })
      const [breaker] = breakers as [CircuitBreaker]
      await breaker.execute(up)
      store.fail('reject')
      await failTimes(breaker, 4)
      await clock.advance(5_000)
      store.fail(undefined)
      for (let beat = 0; beat < 30; beat++) {
        await breaker.execute(up).catch(ignore)
        await clock.advance(100)
      }
      expect(breaker.stats()).toMatchObject({ state: 'closed', fence: expect.stringMatching(/^\d{16}\./) })
    })
  }
})

describe('an exception in the background', () => {
  /** A store, and a clock whose time cannot be told when it is next asked for. */
  function failingClock() {
    const { clock, store } = fleetOf(0)
    const next = { throws: false }
    const broken = {
      now: () => {
        if (!next.throws) return clock.now()
        next.throws = false
        throw new Error('what is the time?')
      },
      setTimeout: clock.setTimeout.bind(clock),
    }
    return { clock, store, broken, next }
  }

  it('ends one exchange and none after it', async () => {
    const { clock, store, broken, next } = failingClock()
    const breaker = circuitBreaker({
      name: 'payments',
      store,
      clock: broken,
      consecutiveFailures: 2,
      syncMs: 100,
    })
    await breaker.execute(up)
    await clock.advance(200)
    const release = store.hold()
    await breaker.execute(up)
    await settled()
    // The answer comes, and cannot be taken in.
    next.throws = true
    release()
    await settled()
    expect(complaints).toHaveLength(1)
    await failTimes(breaker, 2)
    expect(breaker.state).toBe('open')
  })

  it('leaves nothing unsent that came meanwhile', async () => {
    const { clock, store, broken, next } = failingClock()
    const breaker = circuitBreaker({ name: 'payments', store, clock: broken, consecutiveFailures: 1 })
    await breaker.execute(up)
    await clock.advance(200)
    const release = store.hold()
    // It would trip the circuit, and joins the exchange that its coming began, which is on its way without it.
    await failTimes(breaker, 1)
    next.throws = true
    release()
    await settled()
    expect(complaints).toHaveLength(1)
    await clock.advance(200)
    expect(breaker.state).toBe('open')
  })

  it('ends one check-in and none after it', async () => {
    const { clock, store, broken, next } = failingClock()
    const breaker = circuitBreaker({ name: 'payments', store, clock: broken, consecutiveFailures: 2 })
    await breaker.execute(up)
    store.fail('reject')
    await failTimes(breaker, 1)
    await clock.advance(1_000)
    store.fail(undefined)
    const release = store.hold()
    const sent = store.sent.length
    await breaker.execute(up)
    await settled()
    expect(store.sent.length - sent).toBe(1)
    next.throws = true
    release()
    await settled()
    expect(complaints).toHaveLength(1)
    const back = listen(breaker, 'storeUp')
    await clock.advance(2_000)
    await breaker.execute(up)
    await settled()
    expect(back).toHaveLength(1)
  })

  it('ends one claim and none after it', async () => {
    const { clock, store, broken, next } = failingClock()
    const breaker = circuitBreaker({
      name: 'payments',
      store,
      clock: broken,
      consecutiveFailures: 2,
      cooldownMs: 1_000,
      cooldownJitter: 0,
    })
    await failTimes(breaker, 2)
    await clock.advance(1_000)
    const release = store.hold()
    const call = breaker.execute(up).catch(ignore)
    await settled()
    next.throws = true
    release()
    await call
    // The permit that nobody heard of costs a lease.
    await clock.advance(11_000)
    await breaker.execute(up).catch(ignore)
    await settled()
    await expect(breaker.execute(up)).resolves.toBe('up')
    await settled()
    expect(breaker.state).toBe('closed')
  })
})
