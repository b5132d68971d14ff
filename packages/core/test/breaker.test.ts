import { type CircuitBreakerOptions, circuitBreaker } from '@tidegate/core'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from './support/virtual-clock'

const down = async (): Promise<never> => {
  throw new Error('down')
}
const up = async (): Promise<string> => 'up'

function build(options: Partial<CircuitBreakerOptions> = {}) {
  const clock = new VirtualClock()
  const breaker = circuitBreaker({
    name: 'payments',
    minimumCalls: 4,
    cooldownMs: 1_000,
    cooldownJitter: 0,
    probeTimeoutMs: 500,
    clock,
    random: () => 0.5,
    ...options,
  })
  return { clock, breaker }
}

describe('a breaker over the memory store', () => {
  it('opens on the failure that crosses the threshold, before its caller hears of it', async () => {
    const { breaker } = build()
    for (let call = 0; call < 4; call++) {
      expect(breaker.state).toBe('closed')
      await expect(breaker.execute(down)).rejects.toThrow('down')
    }
    expect(breaker.state).toBe('open')
    await expect(breaker.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN', retryAfterMs: 1_000 })
  })

  it('lets one probe through after the cooldown and closes on its success', async () => {
    const { breaker, clock } = build()
    const seen: string[] = []
    breaker.on('transition', ({ from, to, by }) => seen.push(`${from} > ${to} ${by}`))
    for (let call = 0; call < 4; call++) await breaker.execute(down).catch(() => {})
    await clock.advance(1_000)
    let finish = (_: string): void => {}
    const probe = breaker.execute(() => new Promise<string>((resolve) => (finish = resolve)))
    expect(breaker.state).toBe('half-open')
    await expect(breaker.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' })
    finish('up')
    await expect(probe).resolves.toBe('up')
    expect(breaker.state).toBe('closed')
    await expect(breaker.execute(up)).resolves.toBe('up')
    expect(seen).toEqual(['closed > open here', 'open > half-open here', 'half-open > closed here'])
  })

  it('refuses a store that is none', () => {
    for (const store of [{}, { circuits: null, supports: { windows: ['time'] } }, { circuits: {} }]) {
      expect(() => build({ store: store as never })).toThrow('store must be a store')
    }
  })
})
