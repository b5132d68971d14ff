import { memoryStore } from '@tidegate/core'
import { describe, expect, it } from 'vitest'
import { breakerOf, down, failTimes, fleetOf, ignore, listen, Pending, up } from './support/subject'
import { settled, VirtualClock } from './support/virtual-clock'
import { WaywardStore } from './support/wayward-store'

type Breaker = ReturnType<typeof breakerOf>

describe('what a breaker sends', () => {
  it('brings its terms: a deadline with all but reads, the cooldown with its jitter, the lease with its margin', async () => {
    const { clock, store, breakers } = fleetOf(1, {
      cooldownJitter: 0.2,
      probeTimeoutMs: 10_000,
      minimumCalls: 2,
    })
    const [breaker] = breakers as [Breaker]
    await failTimes(breaker, 3)
    await clock.advance(1_200)
    await breaker.execute(up).catch(ignore)
    await settled()
    const termsOf = (args: readonly unknown[]) =>
      args.at(-1) as { deadline?: number; cooldownMs: number; leaseMs: number }
    for (const { method, args } of store.sent) {
      const { deadline, leaseMs } = termsOf(args)
      expect(leaseMs).toBe(11_000)
      expect(deadline === undefined).toBe(method === 'readState')
    }
    for (const { args } of store.sent.filter(({ method }) => method === 'record')) {
      expect(termsOf(args).deadline).toBeLessThanOrEqual(clock.now() + 250)
    }
    const trip = store.sent.find(({ method, args }) => method === 'compareAndSet' && args[2] === 'open')
    expect(termsOf(trip?.args ?? []).cooldownMs).toBe(1_100)
  })

  it('is sent while calls hang, so that a trip elsewhere is heard of', async () => {
    const { clock, breakers } = fleetOf(2)
    const [here, there] = breakers as [Breaker, Breaker]
    await here.execute(up)
    await clock.advance(200)
    await failTimes(there, 8)
    expect(there.state).toBe('open')
    const caller = new AbortController()
    for (let call = 0; call < 4; call++) {
      void here
        .execute(new Pending<string>().run, call % 2 ? { signal: caller.signal } : undefined)
        .catch(ignore)
      await clock.advance(100)
    }
    expect(here.state).toBe('open')
    caller.abort()
  })

  it('reaches the store in strict mode under steady traffic too', async () => {
    const { clock, breakers } = fleetOf(2, { consistency: 'strict', minimumCalls: 10 })
    for (let round = 0; round < 12; round++) {
      for (const breaker of breakers) await breaker.execute(down).catch(ignore)
      await clock.advance(20)
    }
    await clock.advance(200)
    for (const breaker of breakers) await breaker.execute(up).catch(ignore)
    expect(breakers.map(({ state }) => state)).toEqual(['open', 'open'])
  })

  it('leaves nothing behind when it is flushed in the middle of an exchange', async () => {
    const { clock, store, breakers } = fleetOf(1, { minimumCalls: 100 })
    const [breaker] = breakers as [Breaker]
    await breaker.execute(up)
    await clock.advance(200)
    const release = store.hold()
    await breaker.execute(up)
    await breaker.execute(down).catch(ignore)
    const flushed = breaker.flush()
    release()
    await flushed
    const tallies = store.sent.filter(({ method }) => method === 'record').map(({ args }) => args[2])
    const sum = (field: string) =>
      tallies.reduce((total: number, tally) => total + ((tally as Record<string, number>)[field] ?? 0), 0)
    expect([sum('successes'), sum('failures')]).toEqual([2, 1])
  })

  it('does not pass off the outcomes of a process that was frozen as fresh', async () => {
    const { clock, breakers } = fleetOf(1, { windowMs: 1_000, minimumCalls: 10 })
    const [breaker] = breakers as [Breaker]
    await breaker.execute(up)
    await failTimes(breaker, 8)
    clock.freeze(6_000)
    await breaker.execute(down).catch(ignore)
    await breaker.execute(down).catch(ignore)
    await clock.advance(200)
    expect(breaker.state).toBe('closed')
    expect(breaker.stats().failures).toBe(2)
  })

  it('waits for one read when it has heard nothing of the fleet for a long time', async () => {
    const { clock, breakers } = fleetOf(2)
    const [here, there] = breakers as [Breaker, Breaker]
    await here.execute(up)
    clock.freeze(3_600_000)
    await there.isolate()
    await expect(here.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_ISOLATED' })
  })

  it('takes the store’s time once for one call: what the read took, the claim does not get', async () => {
    const clock = new VirtualClock()
    const inner = memoryStore({ clock })
    const store = new WaywardStore(inner)
    const slow = (method: 'readState' | 'compareAndSet', ms: number) => {
      const original = store.circuits[method].bind(store.circuits) as (...args: unknown[]) => unknown
      store.circuits[method] = ((...args: unknown[]) =>
        new Promise((resolve) => clock.setTimeout(() => resolve(original(...args)), ms))) as never
    }
    await failTimes(breakerOf(clock, { store }), 4)
    await clock.advance(1_000)
    slow('readState', 200)
    slow('compareAndSet', 200)
    const start = clock.now()
    let waited = 0
    const call = breakerOf(clock, { store })
      .execute(up)
      .catch(ignore)
      .then(() => {
        waited = clock.now() - start
      })
    await clock.advance(1_000)
    await call
    expect(waited).toBe(250)
  })
})

describe('what a breaker tells', () => {
  it('of calls, probes and rejections, with what belongs to them', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { consecutiveFailures: 1 })
    const heard = listen(breaker, 'success', 'failure', 'reject', 'probe', 'transition')
    const error = new Error('down')
    await breaker.execute(up)
    await breaker.execute(() => Promise.reject(error)).catch(ignore)
    await breaker.execute(up).catch(ignore)
    await clock.advance(1_000)
    await breaker.execute(up)
    const events = heard.map(({ name, event }) => [name, event])
    expect(events).toEqual([
      ['success', { durationMs: 0 }],
      ['transition', expect.objectContaining({ from: 'closed', to: 'open', by: 'here' })],
      ['failure', { durationMs: 0, error }],
      ['reject', { state: 'open', retryAfterMs: 1_000 }],
      ['transition', expect.objectContaining({ to: 'half-open' })],
      ['probe', { fence: expect.any(String), until: clock.now() + 550 }],
      ['success', { durationMs: 0 }],
      ['transition', expect.objectContaining({ to: 'closed', fence: breaker.stats().fence })],
    ])
    expect(breaker.stats()).toMatchObject({
      rejected: 1,
      p50Ms: expect.any(Number),
      p99Ms: expect.any(Number),
    })
  })

  it('names the period that an isolation began', async () => {
    const { breakers } = fleetOf(1)
    const [breaker] = breakers as [Breaker]
    await breaker.execute(up)
    const heard = listen(breaker, 'transition')
    await breaker.isolate()
    expect(heard.map(({ event }) => [event.to, event.fence])).toEqual([['isolated', breaker.stats().fence]])
  })

  it('forgets counters that are older than the window', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { windowMs: 1_000 })
    await failTimes(breaker, 3)
    await clock.advance(200)
    expect(breaker.stats().failures).toBe(3)
    await clock.advance(3_600_000)
    expect(breaker.stats().failures).toBe(0)
  })

  it('lets no rule of the user’s that throws, or is async, decide for it', async () => {
    const { error } = console
    console.error = ignore
    const broken = () => {
      throw new Error('the rule’s own')
    }
    const breaker = breakerOf(new VirtualClock(), {
      isFailure: broken,
      isFailureResult: broken,
      minimumCalls: 100,
    })
    await expect(breaker.execute(down)).rejects.toThrow('down')
    expect(await breaker.execute(up)).toBe('up')
    console.error = error
    expect(breaker.stats()).toMatchObject({ successes: 1, failures: 1 })
    const asynchronous = breakerOf(new VirtualClock(), { isFailureResult: (async () => false) as never })
    await asynchronous.execute(up)
    expect(asynchronous.stats()).toMatchObject({ successes: 1, failures: 0 })
  })

  it('refuses what it cannot do, and leaves nothing behind', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock)
    for (const [options, message] of [
      [{ signal: new AbortController() }, 'signal must be an AbortSignal, got an object'],
      [{ signal: null }, 'signal must be an AbortSignal, got null'],
      [{ deadlineMs: 5, signal: {} }, 'signal must be an AbortSignal'],
      [
        { timeout: 5 },
        'there is no option timeout; there are signal, deadlineMs, key, correlationId, metadata',
      ],
      [null, 'options must be an object, got null'],
      [500, 'options must be an object, got 500'],
    ] as const) {
      const pending = new Pending<string>()
      await expect(breaker.execute(pending.run, options as never)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringContaining(message),
      })
      expect(pending.calls).toBe(0)
    }
    expect(clock.timers).toBe(0)
    expect(() => breaker.on('open' as never, ignore)).toThrow('there is no event open; there are transition')
    expect(() => breaker.on('success', undefined as never)).toThrow('a function must be given')
    expect(() => breaker.wrap(5 as never)).toThrow('wrap: a function must be given, got 5')
  })

  it('counts an error with a status that is no refusal of the caller’s as a failure', async () => {
    const breaker = breakerOf(new VirtualClock(), { minimumCalls: 100 })
    for (const status of [200, 302, 137]) {
      await breaker.execute(() => Promise.reject(Object.assign(new Error('reset'), { status }))).catch(ignore)
    }
    expect(breaker.stats().failures).toBe(3)
  })
})
