import type { CircuitBreaker } from '@tidegate/core'
import { describe, expect, it } from 'vitest'
import { down, failTimes, fleetOf, ignore, listen, Pending, up } from './support/subject'
import { settled } from './support/virtual-clock'
import type { Fault, Method } from './support/wayward-store'

const FAULTS: readonly Fault[] = ['throw', 'reject', 'garbage', 'silence', 'lose-answer']
const METHODS: readonly Method[] = ['readState', 'compareAndSet', 'record']

describe('a store that misbehaves', () => {
  for (const fault of FAULTS) {
    for (const method of METHODS) {
      it(`fails no call and delays none beyond its time: ${method} answers with ${fault}`, async () => {
        const { clock, store, breakers } = fleetOf(1)
        const [breaker] = breakers as [CircuitBreaker]
        store.fail(fault, method)
        let longest = 0
        const call = async (fn: () => Promise<string>) => {
          const start = clock.now()
          const ended = breaker.execute(fn).catch((error: Error) => error.message)
          await clock.advance(250)
          const answer = await ended
          longest = Math.max(longest, clock.now() - start)
          return answer
        }
        for (let round = 0; round < 5; round++) expect(await call(up)).toBe('up')
        for (let round = 0; round < 60 && breaker.state === 'closed'; round++)
          expect(await call(down)).toBe('down')
        // With the store or without it: the dependency is down, and the breaker opens.
        expect(breaker.state).toBe('open')
        expect(longest).toBeLessThanOrEqual(250)
        store.fail(undefined)
        await clock.advance(2_000)
        for (let round = 0; round < 80 && breaker.state !== 'closed'; round++) await call(up)
        expect(breaker.state).toBe('closed')
        await clock.advance(2_000)
        await breaker.execute(up)
        await settled()
        expect(breaker.stats().fence).toMatch(/^\d{16}\./)
      })
    }
  }

  it('is said to be away once per outage, and back once', async () => {
    const { clock, store, breakers } = fleetOf(1)
    const [breaker] = breakers as [CircuitBreaker]
    const heard = listen(breaker, 'storeDown', 'storeUp')
    await breaker.execute(up)
    for (let outage = 0; outage < 2; outage++) {
      store.fail('reject')
      for (let beat = 0; beat < 30; beat++) {
        await breaker.execute(up)
        await clock.advance(100)
      }
      store.fail(undefined)
      for (let beat = 0; beat < 20; beat++) {
        await breaker.execute(up)
        await clock.advance(100)
      }
    }
    expect(heard.map(({ name }) => name)).toEqual(['storeDown', 'storeUp', 'storeDown', 'storeUp'])
  })

  it('is left alone: asked ever more rarely, one question at a time, by all breakers together', async () => {
    const { clock, store, breakers } = fleetOf(20)
    for (const breaker of breakers) await breaker.execute(up)
    await clock.advance(200)
    store.fail('silence')
    const sent = store.sent.length
    for (let beat = 0; beat < 100; beat++) {
      for (const breaker of breakers) await breaker.execute(up)
      await clock.advance(100)
    }
    // Each has one command on its way when the silence begins; then one a second, for all.
    expect(store.sent.length - sent).toBeLessThanOrEqual(20 + 20)
    expect(store.sent.slice(sent + 20).every(({ method }) => method === 'readState')).toBe(true)
  })

  it('is sent nothing while its client is not ready', async () => {
    const { clock, store, breakers } = fleetOf(1)
    const [breaker] = breakers as [CircuitBreaker]
    await breaker.execute(up)
    const sent = store.sent.length
    store.isReady = false
    await clock.advance(200)
    const start = clock.now()
    for (let call = 0; call < 20; call++) await breaker.execute(up)
    expect(clock.now()).toBe(start)
    await clock.advance(5_000)
    expect(store.sent).toHaveLength(sent)
    store.isReady = true
    await breaker.execute(up)
    await settled()
    expect(breaker.stats().fence).toMatch(/^\d{16}\./)
  })

  it('is waited for by the first calls while its client is being connected, and is not away', async () => {
    const { clock, store, breakers } = fleetOf(2)
    const [here, there] = breakers as [CircuitBreaker, CircuitBreaker]
    const outages = listen(here, 'storeDown')
    store.isReady = false
    const calls = [here.execute(up), here.execute(up), there.execute(up)]
    await clock.advance(100)
    expect(store.sent).toHaveLength(0)
    store.isReady = true
    await clock.advance(10)
    await expect(Promise.all(calls)).resolves.toEqual(['up', 'up', 'up'])
    expect(outages).toEqual([])
    expect(here.stats().fence).toBe(there.stats().fence)
  })

  it('is waited for no longer than a store may take, and by nobody who comes later', async () => {
    const { clock, store, breakers } = fleetOf(2)
    const [here, there] = breakers as [CircuitBreaker, CircuitBreaker]
    store.isReady = false
    const first = here.execute(up)
    await clock.advance(250)
    await expect(first).resolves.toBe('up')
    const start = clock.now()
    await here.execute(up)
    await there.execute(up)
    expect(clock.now()).toBe(start)
    expect(there.stats().fence).toMatch(/^local:/)
    expect(store.sent).toHaveLength(0)
  })

  it('is waited for no longer by a process that is busy while its client is being connected', async () => {
    const { clock, store, breakers } = fleetOf(1)
    const [breaker] = breakers as [CircuitBreaker]
    store.isReady = false
    const start = clock.now()
    let waited: number | undefined
    const call = breaker.execute(() => {
      waited = clock.now() - start
    })
    // Each timer comes as much later as the turn takes that keeps it.
    for (let turn = 0; turn < 100 && waited === undefined; turn++) {
      clock.freeze(40)
      await clock.advance(0)
    }
    await call
    expect(waited).toBeLessThanOrEqual(250 + 40)
  })

  it('is sent nothing by a call that has no time left when its client is connected at last', async () => {
    const { clock, store, breakers } = fleetOf(2)
    const [breaker, other] = breakers as [CircuitBreaker, CircuitBreaker]
    store.isReady = false
    const call = breaker.execute(up)
    await settled()
    clock.freeze(300)
    store.isReady = true
    await clock.advance(0)
    await expect(call).resolves.toBe('up')
    expect(store.sent).toHaveLength(0)
    // It was not silent: others need not leave it alone, and this one takes it up with its next check-in.
    await other.execute(up)
    expect(other.stats().fence).toMatch(/^\d{16}\./)
    await clock.advance(100)
    await breaker.execute(up)
    await settled()
    expect(breaker.stats().fence).toMatch(/^\d{16}\./)
  })

  it("probes nothing under 'hold' while what it saw is on its way to the store that is back", async () => {
    const { clock, store, breakers } = fleetOf(1, { whenStoreDown: 'hold' })
    const [breaker] = breakers as [CircuitBreaker]
    await breaker.execute(up)
    const probes = listen(breaker, 'probe')
    store.fail('reject')
    await failTimes(breaker, 8)
    expect(breaker.state).toBe('open')
    store.fail(undefined)
    // It counts what it is told, and takes its time with the trip.
    const stop = breaker.on('storeUp', () => store.fail('silence', 'compareAndSet'))
    await clock.advance(1_200)
    for (let call = 0; call < 20; call++) {
      await breaker.execute(down).catch(ignore)
      await clock.advance(10)
    }
    stop()
    expect(probes).toEqual([])
  })

  it('makes a closed circuit open for itself, under a fence that no store takes', async () => {
    const { clock, store, breakers, inner } = fleetOf(1)
    const [breaker] = breakers as [CircuitBreaker]
    await breaker.execute(up)
    const { fence } = breaker.stats()
    store.fail('reject')
    await failTimes(breaker, 8)
    expect(breaker.state).toBe('open')
    expect(breaker.stats().fence).toMatch(/^local:\d+$/)
    const terms = {
      instance: 'x',
      nonce: 'n',
      window: { kind: 'time', ms: 30_000 },
      cooldownMs: 1,
      leaseMs: 1,
    } as const
    expect(inner.circuits.readState('payments', terms)).toMatchObject({ state: 'closed', fence })
    expect(() =>
      inner.circuits.compareAndSet('payments', 'closed', 'open', breaker.stats().fence, terms),
    ).toThrow('fence')
    void clock
  })

  it('hears what was seen without it as evidence, if the period is the same', async () => {
    const { clock, store, breakers } = fleetOf(2)
    const [alone, other] = breakers as [CircuitBreaker, CircuitBreaker]
    await alone.execute(up)
    await other.execute(up)
    await clock.advance(200)
    store.fail('reject')
    await failTimes(alone, 8)
    expect(alone.state).toBe('open')
    store.fail(undefined)
    await clock.advance(600)
    await alone.execute(up).catch(ignore)
    await clock.advance(200)
    expect(alone.state).toBe('open')
    expect(alone.stats().fence).toMatch(/^\d{16}\./)
    await other.execute(up).catch(ignore)
    await settled()
    expect(other.state).toBe('open')
  })

  it('does not hear of evidence of a period that is over', async () => {
    const { clock, store, breakers, inner } = fleetOf(1)
    const [breaker] = breakers as [CircuitBreaker]
    await breaker.execute(up)
    store.fail('reject')
    await failTimes(breaker, 8)
    expect(breaker.state).toBe('open')
    await inner.circuits.forget('payments')
    store.fail(undefined)
    await clock.advance(600)
    await breaker.execute(up).catch(ignore)
    await clock.advance(200)
    expect(breaker.state).toBe('closed')
    expect(breaker.stats().failures).toBe(0)
  })

  it('does not hear of evidence that is older than the window', async () => {
    const { clock, store, breakers } = fleetOf(1, { windowMs: 5_000, whenStoreDown: 'hold' })
    const [breaker] = breakers as [CircuitBreaker]
    await breaker.execute(up)
    store.fail('reject')
    await failTimes(breaker, 8)
    for (let beat = 0; beat < 60; beat++) {
      await clock.advance(100)
      await breaker.execute(up).catch(ignore)
    }
    expect(breaker.state).toBe('open')
    store.fail(undefined)
    await clock.advance(1_000)
    await breaker.execute(up).catch(ignore)
    await clock.advance(200)
    expect(breaker.state).toBe('closed')
  })

  it('hears of evidence that a probe has borne out since', async () => {
    const { clock, store, breakers } = fleetOf(1, { windowMs: 2_000, whenStoreDown: 'local' })
    const [breaker] = breakers as [CircuitBreaker]
    await breaker.execute(up)
    store.fail('reject')
    await failTimes(breaker, 8)
    // Three windows later its probes still fail.
    for (let beat = 0; beat < 60; beat++) {
      await clock.advance(100)
      await breaker.execute(down).catch(ignore)
    }
    expect(breaker.stats().fence).toMatch(/^local:/)
    store.fail(undefined)
    for (let beat = 0; beat < 15; beat++) {
      await clock.advance(100)
      await breaker.execute(down).catch(ignore)
    }
    expect(breaker.stats()).toMatchObject({ state: 'open', fence: expect.stringMatching(/^\d{16}\./) })
  })

  it('has its state taken up within 2 s of being back, with traffic', async () => {
    const { clock, store, breakers } = fleetOf(2)
    const [cutOff, other] = breakers as [CircuitBreaker, CircuitBreaker]
    await cutOff.execute(up)
    await other.execute(up)
    store.isReady = false
    for (let beat = 0; beat < 50; beat++) {
      await cutOff.execute(up)
      await clock.advance(100)
    }
    store.isReady = true
    await other.isolate()
    const back = clock.now()
    while (cutOff.state !== 'isolated' && clock.now() - back < 5_000) {
      await cutOff.execute(up).catch(ignore)
      await clock.advance(50)
    }
    expect(clock.now() - back).toBeLessThanOrEqual(2_000)
  })
})

describe('who probes while nobody can agree on it', () => {
  async function probesWith(whenStoreDown: 'spread' | 'hold' | 'local', cooldowns: number) {
    let seed = 7
    const random = () => {
      seed = (seed * 16_807) % 2_147_483_647
      return seed / 2_147_483_647
    }
    const { clock, store, breakers } = fleetOf(8, { whenStoreDown, random })
    for (const breaker of breakers) await breaker.execute(up)
    await failTimes(breakers[0] as CircuitBreaker, 20)
    await clock.advance(100)
    for (const breaker of breakers) await breaker.execute(up).catch(ignore)
    await settled()
    expect(breakers.map(({ state }) => state)).toEqual(Array(8).fill('open'))
    store.fail('reject')
    const probes: number[] = []
    for (const breaker of breakers) breaker.on('probe', () => probes.push(clock.now()))
    const start = clock.now()
    while (clock.now() - start < cooldowns * 1_000) {
      for (const breaker of breakers) await breaker.execute(down).catch(ignore)
      await clock.advance(50)
    }
    const perCooldown = probes.length / cooldowns
    const atOnce = Math.max(0, ...probes.map((at) => probes.filter((other) => other === at).length))
    return { perCooldown, atOnce }
  }

  it('spread: about one probe per cooldown over the fleet, and no burst', async () => {
    const { perCooldown, atOnce } = await probesWith('spread', 20)
    expect(perCooldown).toBeGreaterThanOrEqual(0.5)
    expect(perCooldown).toBeLessThanOrEqual(2)
    expect(atOnce).toBeLessThan(8)
  })

  it('hold: nobody', async () => {
    expect(await probesWith('hold', 20)).toEqual({ perCooldown: 0, atOnce: 0 })
  })

  it('local: each instance once per cooldown', async () => {
    const { perCooldown } = await probesWith('local', 20)
    expect(perCooldown).toBeGreaterThan(6)
    expect(perCooldown).toBeLessThanOrEqual(8)
  })

  it('settles a claim whose answer was lost: the permit nobody uses is given back', async () => {
    const { clock, store, breakers } = fleetOf(2, { probeTimeoutMs: 60_000 })
    const [unlucky, other] = breakers as [CircuitBreaker, CircuitBreaker]
    await other.execute(up)
    await failTimes(unlucky, 8)
    await clock.advance(1_000)
    store.fail('lose-answer', 'compareAndSet')
    const probe = new Pending<string>()
    const call = unlucky.execute(probe.run).catch((error: { code: string }) => error.code)
    await clock.advance(250)
    expect(await call).toBe('CIRCUIT_OPEN')
    expect(probe.calls).toBe(0)
    store.fail(undefined)
    await clock.advance(1_000)
    await unlucky.execute(up).catch(ignore)
    await settled()
    await other.execute(up).catch(ignore)
    await settled()
    await clock.advance(100)
    // Long before its lease of a minute: somebody probes, and the circuit closes.
    await other.execute(up).catch(ignore)
    await settled()
    expect(other.state).toBe('closed')
  })
})
