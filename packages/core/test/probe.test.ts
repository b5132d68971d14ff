import { type CircuitBreaker, circuitBreaker, memoryStore } from '@tidegate/core'
import { describe, expect, it } from 'vitest'
import { breakerOf, down, failTimes, fleetOf, ignore, listen, Pending, up } from './support/subject'
import { settled, VirtualClock } from './support/virtual-clock'

async function opened(options = {}) {
  const clock = new VirtualClock()
  const store = memoryStore({ clock })
  const breaker = breakerOf(clock, { store, ...options })
  await failTimes(breaker, 4)
  expect(breaker.state).toBe('open')
  return { clock, store, breaker }
}

describe('one probe', () => {
  it('lets nobody through before the cooldown is over, and one caller after it', async () => {
    const { clock, breaker } = await opened()
    await clock.advance(999)
    await expect(breaker.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN', retryAfterMs: 1 })
    await clock.advance(1)
    const probe = new Pending<string>()
    const calls = Array.from({ length: 10 }, () => breaker.execute(probe.run))
    const others = calls.slice(1).map((call) => call.catch((error: { code: string }) => error.code))
    await settled()
    expect(probe.calls).toBe(1)
    expect(await Promise.all(others)).toEqual(Array(9).fill('CIRCUIT_OPEN'))
    probe.resolve('up')
    await expect(calls[0]).resolves.toBe('up')
    expect(breaker.state).toBe('closed')
  })

  it('goes out once for two breakers of one name in one process', async () => {
    const { clock, store, breaker } = await opened()
    const second = breakerOf(clock, { store })
    await second.execute(up).catch(ignore)
    await clock.advance(1_000)
    const probe = new Pending<string>()
    const calls = [breaker, second].flatMap((one) => [one.execute(probe.run), one.execute(probe.run)])
    for (const call of calls) call.catch(ignore)
    await settled()
    expect(probe.calls).toBe(1)
  })

  it('is asked for by one caller of an instance, and by no other', async () => {
    const { clock, store, breakers } = fleetOf(1)
    const [breaker] = breakers as [ReturnType<typeof breakerOf>]
    await failTimes(breaker, 4)
    await clock.advance(1_000)
    const swaps = store.count('compareAndSet')
    const calls = Array.from({ length: 10 }, () => breaker.execute(up).catch(ignore))
    await Promise.all(calls)
    // One for the permit, and one for the verdict.
    expect(store.count('compareAndSet') - swaps).toBe(2)
  })

  it('has no say any more once its lease ran out, even if nobody took it over', async () => {
    const { clock, store, breakers } = fleetOf(1)
    const [breaker] = breakers as [ReturnType<typeof breakerOf>]
    await failTimes(breaker, 4)
    await clock.advance(1_000)
    const probe = new Pending<string>()
    const call = breaker.execute(probe.run)
    await settled()
    const swaps = store.count('compareAndSet')
    clock.freeze(60_000)
    probe.reject(new Error('down, a minute ago'))
    await expect(call).rejects.toThrow('down')
    await settled()
    expect(store.count('compareAndSet')).toBe(swaps)
    expect(breaker.state).toBe('half-open')
    await expect(breaker.execute(up)).resolves.toBe('up')
  })

  it('sends its verdict with the end of its lease as the deadline', async () => {
    const { clock, store, breakers } = fleetOf(1)
    const [breaker] = breakers as [ReturnType<typeof breakerOf>]
    await failTimes(breaker, 4)
    await clock.advance(1_000)
    const start = clock.now()
    await breaker.execute(up)
    const { args } = store.sent.filter(({ method }) => method === 'compareAndSet').at(-1) ?? { args: [] }
    // The probe's 500 ms, and a margin of 50.
    expect(args[4]).toMatchObject({ deadline: start + 550 })
  })

  it('ends the probe at its time whether or not the function listens, and counts a failure', async () => {
    const { clock, breaker } = await opened()
    const late = listen(breaker, 'late')
    await clock.advance(1_000)
    const probe = new Pending<string>()
    const call = breaker.execute(probe.run)
    await clock.advance(499)
    expect(probe.signal?.aborted).toBe(false)
    const ended = expect(call).rejects.toMatchObject({ code: 'TIMEOUT' })
    await clock.advance(1)
    await ended
    expect(probe.signal?.aborted).toBe(true)
    expect(breaker.state).toBe('open')
    // What it comes to in the end is nobody's evidence.
    await clock.advance(2_000)
    const takeover = new Pending<string>()
    const second = breaker.execute(takeover.run)
    await settled()
    expect(takeover.calls).toBe(1)
    probe.resolve('up after all')
    await settled()
    expect(breaker.state).toBe('half-open')
    expect(late.map(({ event }) => event.outcome)).toEqual(['success'])
    takeover.resolve('up')
    await second
    expect(breaker.state).toBe('closed')
  })

  it('leaves no unhandled rejection when an abandoned probe rejects', async () => {
    const { clock, breaker } = await opened()
    await clock.advance(1_000)
    const probe = new Pending<string>()
    const call = breaker.execute(probe.run).catch(ignore)
    await clock.advance(500)
    await call
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    probe.reject(new Error('too late'))
    await settled()
    await settled()
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).toEqual([])
  })

  it('gives the permit back at once when the caller leaves, and takes that for no evidence', async () => {
    const { clock, breaker } = await opened()
    await clock.advance(1_000)
    const caller = new AbortController()
    const probe = new Pending<string>()
    const call = breaker.execute(probe.run, { signal: caller.signal })
    const gone = new Error('gone')
    caller.abort(gone)
    await expect(call).rejects.toBe(gone)
    expect(breaker.state).toBe('half-open')
    // No lease has to run out first.
    await expect(breaker.execute(up)).resolves.toBe('up')
    expect(breaker.state).toBe('closed')
  })

  it('gives the permit back when an inner policy refuses', async () => {
    const { clock, breaker } = await opened()
    await clock.advance(1_000)
    const inner = circuitBreaker({ name: 'inner', clock })
    await inner.isolate()
    await expect(breaker.execute(() => inner.execute(up))).rejects.toMatchObject({ code: 'CIRCUIT_ISOLATED' })
    expect(breaker.state).toBe('half-open')
    await expect(breaker.execute(up)).resolves.toBe('up')
    expect(breaker.state).toBe('closed')
  })

  it('asks for as many successes in a row as it was told, each under its own fence', async () => {
    const { clock, breaker } = await opened({ successThreshold: 3 })
    const fences = new Set<string>()
    const probe = async ({ fence }: { fence: string }) => fences.add(fence)
    await clock.advance(1_000)
    await breaker.execute(probe)
    await breaker.execute(probe)
    expect(breaker.state).toBe('half-open')
    await breaker.execute(down).catch(ignore)
    expect(breaker.state).toBe('open')
    // The second open period in a row lasts twice as long, and starts the count again.
    await clock.advance(1_999)
    await expect(breaker.execute(probe)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' })
    await clock.advance(1)
    for (let call = 0; call < 3; call++) await breaker.execute(probe)
    expect(breaker.state).toBe('closed')
    expect(fences.size).toBe(5)
  })

  it('grows the cooldown up to its bound, and starts over after a window without trouble', async () => {
    const { clock, breaker } = await opened({
      windowMs: 10_000,
      cooldownBackoff: { factor: 3, maxMs: 5_000 },
    })
    for (const cooldown of [1_000, 3_000, 5_000, 5_000]) {
      const error = await breaker.execute(up).catch((reason: { retryAfterMs: number }) => reason)
      expect(error).toMatchObject({ retryAfterMs: cooldown })
      await clock.advance(cooldown)
      await breaker.execute(down).catch(ignore)
    }
    await clock.advance(5_000)
    await breaker.execute(up)
    await clock.advance(10_000)
    await failTimes(breaker, 4)
    await expect(breaker.execute(up)).rejects.toMatchObject({ retryAfterMs: 1_000 })
  })

  it('takes a slow probe for a failure', async () => {
    const { clock, breaker } = await opened({ slowCallMs: 100, slowCallRate: 1 })
    await clock.advance(1_000)
    const probe = new Pending<string>()
    const call = breaker.execute(probe.run)
    await clock.advance(100)
    probe.resolve('up, but slow')
    await expect(call).resolves.toBe('up, but slow')
    expect(breaker.state).toBe('open')
  })

  it('costs one lease when the probing process is frozen past it, and its verdict comes too late', async () => {
    const { clock, breakers } = fleetOf(2)
    const [frozen, other] = breakers as [ReturnType<typeof breakerOf>, ReturnType<typeof breakerOf>]
    await other.execute(up)
    await failTimes(frozen, 4)
    await clock.advance(1_000)
    const probe = new Pending<string>()
    const call = frozen.execute(probe.run)
    await settled()
    expect(probe.calls).toBe(1)
    const late = listen(frozen, 'late')
    // Frozen: the clock goes on, no timer fires. The lease is the probe's time and a margin of 50 ms.
    clock.freeze(549)
    await other.execute(up).catch(ignore)
    await settled()
    await expect(other.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' })
    clock.freeze(101)
    const takeover = new Pending<string>()
    const second = other.execute(takeover.run)
    await settled()
    expect(takeover.calls).toBe(1)
    const { fence } = other.stats()
    probe.resolve('up, from before')
    await expect(call).rejects.toMatchObject({ code: 'TIMEOUT' })
    await settled()
    expect(late).toHaveLength(1)
    expect(other.state).toBe('half-open')
    expect(other.stats().fence).toBe(fence)
    takeover.resolve('up')
    await second
    await settled()
    expect(other.state).toBe('closed')
  })

  it('does not use a permit that arrives after its time', async () => {
    const { clock, store, breakers } = fleetOf(1, { storeTimeoutMs: 5_000 })
    const [breaker] = breakers as [ReturnType<typeof breakerOf>]
    await failTimes(breaker, 4)
    await clock.advance(1_000)
    const release = store.hold()
    const probe = new Pending<string>()
    const call = breaker.execute(probe.run)
    const refused = expect(call).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' })
    clock.freeze(600)
    release()
    await refused
    expect(probe.calls).toBe(0)
    await settled()
    // Given back, or lapsed: either way the next caller probes.
    await expect(breaker.execute(up)).resolves.toBe('up')
  })

  it('gives back a permit whose caller left while it was asked for', async () => {
    const { clock, store, breakers } = fleetOf(2)
    const [breaker, other] = breakers as [ReturnType<typeof breakerOf>, ReturnType<typeof breakerOf>]
    await other.execute(up)
    await failTimes(breaker, 4)
    await clock.advance(1_000)
    const release = store.hold()
    const caller = new AbortController()
    const call = breaker.execute(up, { signal: caller.signal })
    await settled()
    caller.abort(new Error('gone'))
    await expect(call).rejects.toThrow('gone')
    release()
    await settled()
    await other.execute(up).catch(ignore)
    await settled()
    await expect(other.execute(up)).resolves.toBe('up')
  })
})

describe('probes that come to no evidence', () => {
  /** Somebody probes, and leaves before the dependency has answered. */
  async function leave(breaker: CircuitBreaker): Promise<unknown> {
    const caller = new AbortController()
    const call = breaker
      .execute(new Pending().run, { signal: caller.signal })
      .catch((error: unknown) => error)
    await settled()
    caller.abort('gone')
    const error = await call
    await settled()
    return error
  }

  it('open the circuit again after three in a row, for a cooldown that grows as ever', async () => {
    const { clock, breaker } = await opened()
    await clock.advance(1_000)
    for (let probe = 0; probe < 3; probe++) {
      expect(await leave(breaker)).toBe('gone')
      expect(breaker.state).toBe('half-open')
    }
    expect(await leave(breaker)).toBe('gone')
    expect(breaker.state).toBe('open')
    await expect(breaker.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN', retryAfterMs: 2_000 })
    await clock.advance(2_000)
    await expect(breaker.execute(up)).resolves.toBe('up')
    expect(breaker.state).toBe('closed')
  })

  it('are few while a dependency hangs and its callers lose patience first', async () => {
    const { clock, breaker } = await opened({
      probeTimeoutMs: 10_000,
      cooldownBackoff: { factor: 1, maxMs: 1_000 },
    })
    await clock.advance(1_000)
    let probes = 0
    breaker.on('probe', () => probes++)
    for (let second = 0; second < 100; second++) {
      for (let caller = 0; caller < 10; caller++) await leave(breaker)
      await clock.advance(1_000)
    }
    // Four in each recovery, and a cooldown between two.
    expect(probes).toBeLessThanOrEqual(4 * 100)
  })

  it('are counted anew in the next recovery, and after one that succeeded', async () => {
    const { clock, breaker } = await opened({ successThreshold: 2 })
    for (const cooldown of [1_000, 2_000]) {
      await clock.advance(cooldown)
      for (let probe = 0; probe < 3; probe++) await leave(breaker)
      expect(breaker.state).toBe('half-open')
      await breaker.execute(down).catch(ignore)
      expect(breaker.state).toBe('open')
    }
    await clock.advance(4_000)
    for (let probe = 0; probe < 3; probe++) await leave(breaker)
    await breaker.execute(up)
    for (let probe = 0; probe < 3; probe++) await leave(breaker)
    expect(breaker.state).toBe('half-open')
    await breaker.execute(up)
    expect(breaker.state).toBe('closed')
  })

  it('are counted anew in a recovery that another instance began', async () => {
    const { clock, breakers } = fleetOf(2)
    const [here, there] = breakers as [CircuitBreaker, CircuitBreaker]
    await there.execute(up)
    await failTimes(here, 4)
    await clock.advance(1_000)
    for (let probe = 0; probe < 3; probe++) await leave(here)
    // Half-open, and then open again, by the other one.
    for (let call = 0; call < 3; call++) {
      await there.execute(down).catch(ignore)
      await settled()
    }
    expect(there.state).toBe('open')
    await clock.advance(2_000)
    const probes = listen(here, 'probe')
    // Its first call may have to hear of the other recovery.
    for (let call = 0; call < 5 && probes.length < 3; call++) await leave(here)
    expect(probes).toHaveLength(3)
    expect(here.state).toBe('half-open')
    await leave(here)
    expect(here.state).toBe('open')
  })

  it('end half-open for a function that calls its own breaker, which then refuses', async () => {
    const { clock, breaker } = await opened()
    await clock.advance(1_000)
    const nested = () => breaker.execute(up)
    for (let call = 0; call < 4; call++) {
      expect(breaker.state).toBe(call === 0 ? 'open' : 'half-open')
      await expect(breaker.execute(nested)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' })
    }
    expect(breaker.state).toBe('open')
  })

  it('are none where the permit came too late for a probe to be sent', async () => {
    const { clock, store, breakers } = fleetOf(1, { storeTimeoutMs: 5_000 })
    const [breaker] = breakers as [CircuitBreaker]
    await failTimes(breaker, 4)
    await clock.advance(1_000)
    for (let claim = 0; claim < 6; claim++) {
      const release = store.hold()
      const call = breaker.execute(up).catch(ignore)
      await settled()
      clock.freeze(520)
      release()
      await call
      await settled()
    }
    expect(breaker.state).toBe('half-open')
    await expect(breaker.execute(up)).resolves.toBe('up')
  })

  it('do not bear out what opened the circuit of an instance that stands alone', async () => {
    const { clock, store, breakers } = fleetOf(1, { windowMs: 5_000, whenStoreDown: 'local' })
    const [breaker] = breakers as [CircuitBreaker]
    await breaker.execute(up)
    await clock.advance(200)
    store.fail('reject')
    // It hears that the store is away with nothing on its way there: all it sees from now on is offered.
    breaker.rejection()
    await failTimes(breaker, 8)
    for (let beat = 0; beat < 60; beat++) {
      await clock.advance(100)
      await leave(breaker)
    }
    expect(breaker.stats().fence).toMatch(/^local:/)
    store.fail(undefined)
    for (let beat = 0; beat < 15; beat++) {
      await clock.advance(100)
      await leave(breaker)
    }
    // What opened it is older than the window.
    expect(breaker.stats()).toMatchObject({ state: 'closed', fence: expect.stringMatching(/^\d{16}\./) })
  })
})
