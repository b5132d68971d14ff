import type { CircuitBreaker, CircuitBreakerOptions } from '@tidegate/core'
import { describe, expect, it } from 'vitest'
import { type breakerOf, down, failTimes, fleetOf, ignore, listen, Pending, up } from './support/subject'
import { settled } from './support/virtual-clock'

describe('the mirror', () => {
  it('awaits one read, by the first calls of an instance together, and none after it', async () => {
    const { store, breakers } = fleetOf(1)
    const [breaker] = breakers as [ReturnType<typeof breakerOf>]
    await Promise.all(Array.from({ length: 5 }, () => breaker.execute(up)))
    expect(store.count('readState')).toBe(1)
    const release = store.hold()
    for (let call = 0; call < 100; call++) await breaker.execute(up)
    release()
    await settled()
    expect(store.count('readState')).toBe(1)
  })

  it('sends by the time that passes and not by the calls', async () => {
    const { clock, store, breakers } = fleetOf(1, { syncMs: 100 })
    const [breaker] = breakers as [ReturnType<typeof breakerOf>]
    await breaker.execute(up)
    for (let tick = 0; tick < 100; tick++) {
      for (let call = 0; call < 50; call++) await breaker.execute(up)
      await clock.advance(10)
    }
    expect(store.count('record')).toBeLessThanOrEqual(11)
    expect(store.count('readState')).toBe(1)
    expect(breaker.stats().successes).toBe(5_001)
  })

  it('sends nothing while there is no traffic, and leaves no timer behind', async () => {
    const { clock, store, breakers } = fleetOf(1)
    const [breaker] = breakers as [ReturnType<typeof breakerOf>]
    await breaker.execute(up)
    await clock.advance(1_000)
    const sent = store.sent.length
    await clock.advance(60_000)
    expect(store.sent.length).toBe(sent)
    expect(clock.timers).toBe(0)
  })

  it('sends the outcomes that no later call would', async () => {
    const { clock, store, breakers } = fleetOf(1)
    const [breaker] = breakers as [ReturnType<typeof breakerOf>]
    await failTimes(breaker, 3)
    await clock.advance(100)
    const tallies = store.sent.filter(({ method }) => method === 'record').map(({ args }) => args[2])
    const failures = tallies.reduce((sum: number, tally) => sum + (tally as { failures: number }).failures, 0)
    expect(failures).toBe(3)
  })

  it('sends at once when local and last known fleet counters reach the threshold', async () => {
    const { clock, breakers } = fleetOf(2)
    const [first, second] = breakers as [ReturnType<typeof breakerOf>, ReturnType<typeof breakerOf>]
    await second.execute(up)
    await failTimes(first, 3)
    await clock.advance(100)
    await failTimes(second, 1)
    await clock.advance(100)
    // 4 failures of 5 calls: already the fleet's threshold. The one success was in it, too.
    expect(second.state).toBe('open')
    expect(first.stats().failures).toBeLessThan(4)
  })

  it('rejects from the mirror without a round trip, and refreshes it in the background by time', async () => {
    const { clock, store, breakers } = fleetOf(1, { cooldownMs: 10_000 })
    const [breaker] = breakers as [ReturnType<typeof breakerOf>]
    await failTimes(breaker, 4)
    const sent = store.sent.length
    for (let tick = 0; tick < 10; tick++) {
      for (let call = 0; call < 100; call++) await breaker.execute(up).catch(ignore)
      await clock.advance(100)
    }
    expect(store.sent.length - sent).toBeLessThanOrEqual(11)
    expect(store.sent.slice(sent).every(({ method }) => method === 'readState')).toBe(true)
  })

  it('hears of a recovery elsewhere with the next refresh', async () => {
    const { clock, breakers } = fleetOf(2)
    const [first, second] = breakers as [ReturnType<typeof breakerOf>, ReturnType<typeof breakerOf>]
    await second.execute(up)
    await failTimes(first, 4)
    await clock.advance(100)
    await second.execute(up).catch(ignore)
    await settled()
    expect(second.state).toBe('open')
    const heard = listen(second, 'transition')
    await clock.advance(1_000)
    await first.execute(up)
    await settled()
    await clock.advance(100)
    await second.execute(up).catch(ignore)
    await settled()
    expect(second.state).toBe('closed')
    expect(heard.map(({ event }) => [event.to, event.by])).toEqual([['closed', 'peer']])
  })

  it('reads before each call where it is to be strict', async () => {
    const { store, breakers } = fleetOf(2, { consistency: 'strict' })
    const [first, second] = breakers as [ReturnType<typeof breakerOf>, ReturnType<typeof breakerOf>]
    await second.execute(up)
    await second.execute(up)
    expect(store.count('readState')).toBe(2)
    await failTimes(first, 4)
    await expect(second.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' })
  })

  it('counts a resent tally once', async () => {
    const { clock, store, breakers, inner } = fleetOf(1, { consecutiveFailures: 5 })
    const [breaker] = breakers as [ReturnType<typeof breakerOf>]
    await breaker.execute(up)
    store.fail('lose-answer', 'record')
    await failTimes(breaker, 2)
    await clock.advance(100)
    await clock.advance(250)
    store.fail(undefined)
    for (let beat = 0; beat < 20; beat++) {
      await clock.advance(100)
      await breaker.execute(up).catch(ignore)
    }
    expect(breaker.state).toBe('closed')
    const numbers = store.sent
      .filter(({ method }) => method === 'record')
      .map(({ args }) => (args[2] as { seq: number }).seq)
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
    void inner
  })

  it('ignores an answer that was overtaken by a later one', async () => {
    const { clock, store, breakers } = fleetOf(1)
    const [breaker] = breakers as [ReturnType<typeof breakerOf>]
    await breaker.execute(up)
    await clock.advance(100)
    const release = store.hold()
    await breaker.execute(up)
    const record = settled()
    await record
    const answered = breaker.isolate()
    await settled()
    release()
    await expect(answered).resolves.toBe('fleet')
    await settled()
    expect(breaker.state).toBe('isolated')
  })

  it('follows a store that has lost its memory', async () => {
    const { clock, store, breakers, inner } = fleetOf(1)
    const [breaker] = breakers as [ReturnType<typeof breakerOf>]
    await failTimes(breaker, 4)
    expect(breaker.state).toBe('open')
    await inner.circuits.forget('payments')
    await clock.advance(100)
    await breaker.execute(up).catch(ignore)
    await settled()
    expect(breaker.state).toBe('closed')
    await expect(breaker.execute(up)).resolves.toBe('up')
    void store
  })

  it('waits for a probe elsewhere, and closes with it', async () => {
    const { clock, breakers } = fleetOf(2)
    const [first, second] = breakers as [ReturnType<typeof breakerOf>, ReturnType<typeof breakerOf>]
    await second.execute(up)
    await failTimes(first, 4)
    await clock.advance(1_000)
    const probe = new Pending<string>()
    const probing = first.execute(probe.run)
    await settled()
    await second.execute(down).catch(ignore)
    await settled()
    const error = await second.execute(up).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'CIRCUIT_OPEN', retryAfterMs: undefined })
    probe.resolve('up')
    await probing
    await settled()
    await clock.advance(100)
    await second.execute(up).catch(ignore)
    await settled()
    expect(second.state).toBe('closed')
  })

  it('flushes what has come together, verdicts included', async () => {
    const { clock, store, breakers } = fleetOf(1)
    const [breaker] = breakers as [ReturnType<typeof breakerOf>]
    await breaker.execute(up)
    await breaker.execute(up)
    await breaker.flush()
    expect(store.count('record')).toBe(1)
    await failTimes(breaker, 6)
    await clock.advance(1_000)
    await breaker.execute(up)
    await breaker.flush()
    expect(breaker.state).toBe('closed')
    await breaker[Symbol.asyncDispose]()
  })

  it('opens for itself alone while too few instances report failures', async () => {
    const { clock, breakers } = fleetOf(3, { minReporters: 2 })
    const [sick, healthy, third] = breakers as [
      ReturnType<typeof breakerOf>,
      ReturnType<typeof breakerOf>,
      ReturnType<typeof breakerOf>,
    ]
    await healthy.execute(up)
    await failTimes(sick, 4)
    await clock.advance(100)
    expect(sick.state).toBe('open')
    expect(sick.stats().fence).toMatch(/^local:\d+$/)
    await healthy.execute(up)
    await clock.advance(100)
    expect(healthy.state).toBe('closed')
    // It recovers for itself, and is one of the fleet again.
    await clock.advance(1_000)
    await sick.execute(up)
    expect(sick.state).toBe('closed')
    expect(sick.stats().fence).toBe(healthy.stats().fence)
    // A second instance with failures makes it the fleet's affair.
    await failTimes(third, 4)
    await clock.advance(100)
    await healthy.execute(up).catch(ignore)
    await settled()
    expect(healthy.state).toBe('open')
    expect(third.stats().fence).toBe(healthy.stats().fence)
  })

  describe('of an instance that has heard nothing for a minute', () => {
    /** The circuit is open, and `idle` was told so long ago that it was closed. */
    async function behind(options: Partial<CircuitBreakerOptions> = {}) {
      const fleet = fleetOf(2, {
        cooldownMs: 600_000,
        cooldownBackoff: { factor: 1, maxMs: 600_000 },
        ...options,
      })
      const [idle, busy] = fleet.breakers as [CircuitBreaker, CircuitBreaker]
      await idle.execute(up)
      await fleet.clock.advance(60_000)
      await failTimes(busy, 4)
      expect(busy.state).toBe('open')
      await fleet.clock.advance(1_000)
      expect(idle.state).toBe('closed')
      return { ...fleet, idle, busy }
    }

    it('is waited for by all calls that come, together', async () => {
      const { store, idle } = await behind()
      const reads = store.count('readState')
      const calls = Array.from({ length: 100 }, () =>
        idle.execute(up).catch((error: { code: string }) => error.code),
      )
      expect(await Promise.all(calls)).toEqual(Array(100).fill('CIRCUIT_OPEN'))
      expect(store.count('readState') - reads).toBe(1)
    })

    it('is waited for although somebody asked for rejection() first', async () => {
      const { store, idle } = await behind()
      const reads = store.count('readState')
      expect(idle.rejection()).toBeUndefined()
      await expect(idle.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' })
      expect(store.count('readState') - reads).toBe(1)
    })

    it('is waited for by calls that would not look at the clock', async () => {
      const { clock, store, breakers } = fleetOf(2, {
        cooldownMs: 600_000,
        cooldownBackoff: { factor: 1, maxMs: 600_000 },
      })
      const [frozen, busy] = breakers as [CircuitBreaker, CircuitBreaker]
      for (const breaker of breakers) await breaker.execute(up)
      await clock.advance(500)
      // So many that most of the next would not be timed.
      for (let call = 0; call < 40; call++) await frozen.execute(up)
      clock.freeze(300_000)
      await failTimes(busy, 4)
      expect(busy.state).toBe('open')
      const release = store.hold()
      let ran = 0
      const calls = Array.from({ length: 100 }, () =>
        frozen.execute(() => ran++).catch((error: { code: string }) => error.code),
      )
      await settled()
      // One in sixteen is timed; the first of them stops all.
      expect(ran).toBeLessThan(16)
      release()
      const refused = (await Promise.all(calls)).filter((answer) => answer === 'CIRCUIT_OPEN')
      expect(refused.length).toBeGreaterThan(84)
    })

    it('is waited for no longer than a store may take', async () => {
      const { clock, store, idle } = await behind()
      store.fail('silence')
      const first = idle.execute(up)
      await clock.advance(100)
      const second = idle.execute(up)
      await clock.advance(150)
      await expect(Promise.all([first, second])).resolves.toEqual(['up', 'up'])
    })

    it('does not keep back what trips the circuit while it asks', async () => {
      const { clock, store, breakers } = fleetOf(1, { consecutiveFailures: 1 })
      const [breaker] = breakers as [CircuitBreaker]
      await breaker.execute(up)
      await clock.advance(1_000)
      const early = new Pending<string>()
      const call = breaker.execute(early.run).catch(ignore)
      await clock.advance(61_000)
      const release = store.hold()
      const second = breaker.execute(up).catch(ignore)
      await settled()
      early.reject(new Error('down'))
      await call
      await settled()
      release()
      await second
      await settled()
      expect(breaker.state).toBe('open')
    })
  })

  it('sends what came during an exchange that broke off', async () => {
    const { clock, store, breakers } = fleetOf(1, { minimumCalls: 100 })
    const [breaker] = breakers as [CircuitBreaker]
    await breaker.execute(up)
    await clock.advance(100)
    const release = store.hold()
    await breaker.execute(up)
    await settled()
    await failTimes(breaker, 3)
    release()
    await clock.advance(200)
    expect(store.sent.filter(({ method }) => method === 'record').map(({ args }) => args[2])).toContainEqual(
      expect.objectContaining({ failures: 3 }),
    )
  })
})
