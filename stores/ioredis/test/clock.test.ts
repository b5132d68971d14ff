import { afterAll, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { fresh, swap, tally, terms } from './support/caller'
import { client } from './support/clients'
import { setClock } from './support/set-clock'

const server = await startRedis()
afterAll(() => server.stop())

const clock = setClock(server)
const store = clock.storeOver(client(6, server))
const { circuits } = store

const HOUR = 3_600_000

describe('a clock that is set back', () => {
  it('takes no circuit back, and lets time pass from there', async () => {
    const name = fresh()
    const before = await circuits.readState(name, terms())
    await clock.step(-HOUR)
    const then = await circuits.readState(name, terms())
    expect(then.now).toBeGreaterThanOrEqual(before.now)
    await clock.leap(5_000)
    const later = await circuits.readState(name, terms())
    expect(later.now - then.now).toBeGreaterThanOrEqual(5_000)
    expect(later.now - then.now).toBeLessThan(HOUR)
  })

  it('ends a cooldown at its time', async () => {
    const name = fresh()
    const { snapshot } = await swap(store, name, 'open', { cooldownMs: 10_000 })
    await clock.step(-HOUR)
    expect((await swap(store, name, 'half-open', { owner: 'me' })).ok).toBe(false)
    await clock.leap(10_000)
    const probe = await swap(store, name, 'half-open', { owner: 'me' })
    expect([probe.ok, probe.snapshot.probeAfter]).toEqual([true, snapshot.probeAfter])
  })

  it('makes no permit live again whose lease ran out', async () => {
    const name = fresh()
    await swap(store, name, 'open')
    await clock.leap(10)
    await swap(store, name, 'half-open', { owner: 'me', leaseMs: 10_000 })
    await clock.leap(10_001)
    await circuits.readState(name, terms())
    await clock.step(-HOUR)
    expect((await swap(store, name, 'half-open', { owner: 'another' })).ok).toBe(true)
  })

  it('may be set back again and again', async () => {
    const name = fresh()
    let { now } = await circuits.readState(name, terms())
    for (let time = 0; time < 5; time++) {
      await clock.step(-HOUR)
      await clock.leap(1_000)
      const later = await circuits.readState(name, terms())
      expect(later.now).toBeGreaterThanOrEqual(now)
      now = later.now
    }
  })

  it('is followed by a circuit that is created only then', async () => {
    const old = fresh()
    const before = await circuits.readState(old, terms())
    await clock.step(-HOUR)
    expect((await circuits.readState(fresh(), terms())).now).toBeLessThan(before.now)
  })
})

describe('a clock that is set forward', () => {
  it('lets outcomes leave their window, and leases end, as if so much time had passed', async () => {
    const name = fresh()
    const { fence } = await circuits.readState(name, terms())
    await circuits.record(name, fence, tally(1, { failures: 3 }), terms())
    await clock.step(HOUR)
    expect((await circuits.record(name, fence, tally(2), terms())).counters.failures).toBe(0)
  })
})
