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
})
