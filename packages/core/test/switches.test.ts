import type { CircuitBreaker } from '@tidegate/core'
import { describe, expect, it } from 'vitest'
import { failTimes, fleetOf, ignore, listen, Pending, up } from './support/subject'
import { settled } from './support/virtual-clock'

describe('switches', () => {
  it('isolate stops the fleet until restore, and no cooldown ends it', async () => {
    const { clock, breakers } = fleetOf(2)
    const [here, there] = breakers as [CircuitBreaker, CircuitBreaker]
    await there.execute(up)
    expect(await here.isolate()).toBe('fleet')
    await clock.advance(100)
    await there.execute(up).catch(ignore)
    await settled()
    await expect(there.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_ISOLATED' })
    await clock.advance(3_600_000)
    await expect(here.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_ISOLATED' })
    expect(await there.restore()).toBe('fleet')
    await expect(there.execute(up)).resolves.toBe('up')
    await clock.advance(100)
    await here.execute(up).catch(ignore)
    await settled()
    await expect(here.execute(up)).resolves.toBe('up')
  })

  it('reset closes and forgets counts, and does not leave isolation', async () => {
    const { breakers } = fleetOf(1)
    const [breaker] = breakers as [CircuitBreaker]
    await failTimes(breaker, 3)
    expect(await breaker.reset()).toBe('fleet')
    expect(breaker.stats()).toMatchObject({ state: 'closed', failures: 0 })
    await failTimes(breaker, 4)
    expect(breaker.state).toBe('open')
    expect(await breaker.reset()).toBe('fleet')
    expect(breaker.state).toBe('closed')
    await breaker.isolate()
    expect(await breaker.reset()).toBe('fleet')
    expect(breaker.state).toBe('isolated')
  })

  it('restore of what is not isolated changes nothing', async () => {
    const { breakers } = fleetOf(1)
    const [breaker] = breakers as [CircuitBreaker]
    await failTimes(breaker, 4)
    const { fence } = breaker.stats()
    expect(await breaker.restore()).toBe('fleet')
    expect(breaker.stats()).toMatchObject({ state: 'open', fence })
  })

  it('takes the verdict from a probe that was out when the circuit was isolated', async () => {
    const { clock, breakers } = fleetOf(1)
    const [breaker] = breakers as [CircuitBreaker]
    await failTimes(breaker, 4)
    await clock.advance(1_000)
    const probe = new Pending<string>()
    const call = breaker.execute(probe.run)
    await settled()
    await breaker.isolate()
    const late = listen(breaker, 'late')
    probe.resolve('up')
    await expect(call).resolves.toBe('up')
    await settled()
    expect(breaker.state).toBe('isolated')
    expect(late).toHaveLength(1)
  })

  it('isolate holds here while the store is away, and is replayed without traffic', async () => {
    const { clock, store, breakers } = fleetOf(2)
    const [here, there] = breakers as [CircuitBreaker, CircuitBreaker]
    await here.execute(up)
    await there.execute(up)
    store.fail('reject')
    expect(await here.isolate()).toBe('pending')
    expect(here.state).toBe('isolated')
    await expect(here.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_ISOLATED' })
    await clock.advance(5_000)
    store.fail(undefined)
    await clock.advance(2_000)
    await there.execute(up).catch(ignore)
    await settled()
    await clock.advance(100)
    await there.execute(up).catch(ignore)
    await settled()
    expect(there.state).toBe('isolated')
    expect(here.state).toBe('isolated')
    await clock.advance(1_000)
    expect(clock.timers).toBe(0)
  })

  it('the last switch wins while it is pending', async () => {
    const { clock, store, breakers } = fleetOf(1)
    const [breaker] = breakers as [CircuitBreaker]
    await breaker.execute(up)
    store.fail('reject')
    expect(await breaker.isolate()).toBe('pending')
    expect(await breaker.restore()).toBe('pending')
    await expect(breaker.execute(up)).resolves.toBe('up')
    store.fail(undefined)
    await clock.advance(2_000)
    expect(breaker.state).toBe('closed')
    await expect(breaker.execute(up)).resolves.toBe('up')
  })

  it('restore and reset hold here as a closed circuit while the store is away', async () => {
    const { clock, store, breakers } = fleetOf(2)
    const [here, there] = breakers as [CircuitBreaker, CircuitBreaker]
    await here.isolate()
    store.fail('reject')
    expect(await here.restore()).toBe('pending')
    await expect(here.execute(up)).resolves.toBe('up')
    expect(await here.reset()).toBe('pending')
    await expect(here.execute(up)).resolves.toBe('up')
    store.fail(undefined)
    await clock.advance(2_000)
    await expect(there.execute(up)).resolves.toBe('up')
    await expect(here.execute(up)).resolves.toBe('up')
    expect(here.stats().fence).toBe(there.stats().fence)
  })

  it('a reset does not call off an isolation that is to come', async () => {
    const { clock, store, breakers } = fleetOf(1)
    const [breaker] = breakers as [CircuitBreaker]
    await breaker.execute(up)
    store.fail('reject')
    await breaker.isolate()
    await breaker.reset()
    expect(breaker.state).toBe('isolated')
    store.fail(undefined)
    await clock.advance(2_000)
    expect(breaker.state).toBe('isolated')
  })

  it('works before the first call', async () => {
    const { breakers } = fleetOf(1)
    const [breaker] = breakers as [CircuitBreaker]
    expect(await breaker.isolate()).toBe('fleet')
    await expect(breaker.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_ISOLATED', circuit: 'payments' })
  })
})
