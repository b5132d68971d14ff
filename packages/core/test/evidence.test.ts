import { memoryStore } from '@tidegate/core'
import { describe, expect, it } from 'vitest'
import { breakerOf, down, failTimes, fleetOf, ignore, listen, Pending, up } from './support/subject'
import { settled, VirtualClock } from './support/virtual-clock'

describe('evidence belongs to its period', () => {
  it('does not reopen on the late failure of a call admitted two periods ago', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { consecutiveFailures: 1 })
    const early = Array.from({ length: 5 }, () => new Pending<string>())
    const calls = early.map((pending) => breaker.execute(pending.run).catch(ignore))
    await settled()
    await breaker.execute(down).catch(ignore)
    await clock.advance(1_000)
    await breaker.execute(up)
    expect(breaker.state).toBe('closed')
    const late = listen(breaker, 'late')
    for (const pending of early) pending.reject(new Error('down, long ago'))
    await Promise.all(calls)
    expect(breaker.state).toBe('closed')
    expect(breaker.stats().failures).toBe(0)
    expect(late.map(({ event }) => event.outcome)).toEqual(Array(5).fill('failure'))
  })

  it('does not count the late successes of many calls, either', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { minimumCalls: 200 })
    await breaker.execute(up)
    const early = new Pending<string>()
    const calls = Array.from({ length: 200 }, () => breaker.execute(early.run))
    await settled()
    // Enough outcomes that further calls are not timed, and take the shortest way.
    for (let call = 0; call < 100; call++) await breaker.execute(up)
    const untimed = Array.from({ length: 50 }, () => breaker.execute(early.run))
    await breaker.reset()
    const late = listen(breaker, 'late')
    early.resolve('up, before')
    await Promise.all([...calls, ...untimed])
    expect(late).toHaveLength(250)
    expect(breaker.stats()).toMatchObject({ successes: 0, failures: 0 })
  })

  it('does not close on the late success of a call admitted before the trip', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { consecutiveFailures: 1 })
    const early = new Pending<string>()
    const call = breaker.execute(early.run)
    await settled()
    await breaker.execute(down).catch(ignore)
    await clock.advance(1_000)
    const probe = new Pending<string>()
    const probing = breaker.execute(probe.run)
    early.resolve('up, before')
    await expect(call).resolves.toBe('up, before')
    expect(breaker.state).toBe('half-open')
    probe.reject(new Error('down'))
    await expect(probing).rejects.toThrow('down')
    expect(breaker.state).toBe('open')
  })

  it('does not let one blip right after closing meet the old counts', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock)
    await failTimes(breaker, 4)
    await clock.advance(1_000)
    await breaker.execute(up)
    expect(breaker.stats()).toMatchObject({ state: 'closed', successes: 0, failures: 0 })
    await failTimes(breaker, 3)
    expect(breaker.state).toBe('closed')
    await failTimes(breaker, 1)
    expect(breaker.state).toBe('open')
  })

  it('does not count what is older than the window', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { windowMs: 1_000 })
    await failTimes(breaker, 3)
    await clock.advance(1_100)
    await failTimes(breaker, 3)
    expect(breaker.state).toBe('closed')
    await failTimes(breaker, 1)
    expect(breaker.state).toBe('open')
  })

  it('keeps to its cooldown when the wall clock runs fast or steps', async () => {
    const clock = new VirtualClock()
    // The store's clock is the server's; this instance's is an hour ahead of it and then steps.
    const skewed = { now: () => clock.now() + 3_600_000, setTimeout: clock.setTimeout.bind(clock) }
    const store = memoryStore({ clock })
    const breaker = breakerOf(clock, { store, clock: skewed })
    await failTimes(breaker, 4)
    await expect(breaker.execute(up)).rejects.toMatchObject({ retryAfterMs: 1_000 })
    const dateNow = Date.now
    Date.now = () => dateNow() + 86_400_000
    try {
      await expect(breaker.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' })
    } finally {
      Date.now = dateNow
    }
    await clock.advance(1_000)
    await expect(breaker.execute(up)).resolves.toBe('up')
  })

  it('opens soon after the fleet has seen enough, though no instance has', async () => {
    const { clock, store, breakers } = fleetOf(4, { minimumCalls: 12, syncMs: 100 })
    for (const breaker of breakers) await breaker.execute(up)
    await clock.advance(100)
    // Three failures each: enough for all of them, and no instance knows of more than its own.
    const told = store.sent.length
    for (const breaker of breakers) await failTimes(breaker, 3)
    await clock.advance(20)
    expect(breakers.map(({ state }) => state)).toContain('open')
    expect(store.sent.length - told).toBeLessThan(3 * breakers.length)
  })

  it('does not hurry for failures that are few, in however large a fleet', async () => {
    const { clock, store, breakers } = fleetOf(4, { minimumCalls: 12, syncMs: 100 })
    for (const breaker of breakers) for (let call = 0; call < 20; call++) await breaker.execute(up)
    await clock.advance(200)
    const told = store.sent.length
    for (const breaker of breakers) {
      for (let call = 0; call < 8; call++) await breaker.execute(up)
      await failTimes(breaker, 2)
    }
    await clock.advance(90)
    expect(store.sent.length - told).toBeLessThanOrEqual(breakers.length)
  })

  it('opens on slow calls where it was told to', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { slowCallMs: 200, slowCallRate: 0.5 })
    const slow = async () => {
      clock.freeze(200)
      return 'up'
    }
    for (const fn of [up, slow, up]) await breaker.execute(fn)
    expect(breaker.state).toBe('closed')
    await breaker.execute(slow)
    expect(breaker.state).toBe('open')
    expect(breaker.stats().state).toBe('open')
  })

  it('counts the last calls where the window is one of calls', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { windowCalls: 4 })
    for (const fn of [down, up, up, up, down]) await breaker.execute(fn).catch(ignore)
    expect(breaker.state).toBe('closed')
    await breaker.execute(down).catch(ignore)
    expect(breaker.state).toBe('open')
  })

  it('counts failures in a row where it was told to, however old', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { consecutiveFailures: 3 })
    for (const fn of [down, down, up, down]) await breaker.execute(fn).catch(ignore)
    await clock.advance(50_000)
    await breaker.execute(down).catch(ignore)
    expect(breaker.state).toBe('closed')
    await breaker.execute(down).catch(ignore)
    expect(breaker.state).toBe('open')
  })
})
