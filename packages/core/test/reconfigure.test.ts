import { circuitBreaker } from '@tidegate/core'
import { describe, expect, it } from 'vitest'
import { breakerOf, down, failTimes, ignore, up } from './support/subject'
import { VirtualClock } from './support/virtual-clock'

describe('a breaker that is reconfigured', () => {
  it('goes by the new options from the next call on, in the same period and with the same counts', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { minimumCalls: 10 })
    await failTimes(breaker, 5)
    const { fence } = breaker.stats()
    breaker.reconfigure({ minimumCalls: 6 })
    expect(breaker.stats()).toMatchObject({ fence, failures: 5, state: 'closed' })
    await failTimes(breaker, 1)
    expect(breaker.state).toBe('open')
  })

  it('keeps the options that are not named, and takes one back to its default with undefined', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { minimumCalls: 3, cooldownMs: 500 })
    breaker.reconfigure({ probeTimeoutMs: 100 })
    await failTimes(breaker, 3)
    expect(breaker.rejection()).toMatchObject({ retryAfterMs: 500 })
    await breaker.reset()
    breaker.reconfigure({ minimumCalls: undefined })
    await failTimes(breaker, 9)
    expect(breaker.state).toBe('closed')
    await failTimes(breaker, 1)
    expect(breaker.state).toBe('open')
  })

  it('probes for as long as it is told to now, and closes into a ramp that it did not have', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { minimumCalls: 2, random: () => 0.99 })
    await failTimes(breaker, 2)
    breaker.reconfigure({ probeTimeoutMs: 50, rampUpMs: 1_000 })
    await clock.advance(1_000)
    const hung = breaker.execute(() => new Promise(ignore)).catch((error: { code: string }) => error.code)
    await clock.advance(50)
    await expect(hung).resolves.toBe('TIMEOUT')
    await clock.advance(10_000)
    await breaker.execute(up)
    expect(breaker.state).toBe('closed')
    await expect(breaker.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' })
  })

  it('refuses what does not fit, and what is fixed, and then is what it was', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { minimumCalls: 3 })
    for (const options of [
      { name: 'other' },
      { clock },
      { consecutiveFailures: 5 },
      { minimumCalls: 0 },
      { minimumCall: 1 },
      { syncMs: 30_000 },
    ]) {
      expect(() => breaker.reconfigure(options as never)).toThrow(/circuitBreaker: /)
    }
    await failTimes(breaker, 3)
    expect(breaker.state).toBe('open')
  })

  it('is one of a family that is reconfigured as a whole', async () => {
    const clock = new VirtualClock()
    const keyed = circuitBreaker.keyed({ name: 'hosts', minimumCalls: 10, clock })
    const [a, b] = [keyed.for('a'), keyed.for('b')]
    keyed.reconfigure({ minimumCalls: 2 })
    for (const breaker of [a, b, keyed.for('c')]) {
      for (let call = 0; call < 2; call++) await breaker.execute(down).catch(ignore)
      expect(breaker.state).toBe('open')
    }
  })
})
