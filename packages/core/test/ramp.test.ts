import { describe, expect, it } from 'vitest'
import { breakerOf, failTimes, up } from './support/subject'
import { VirtualClock } from './support/virtual-clock'

describe('the ramp after closing', () => {
  it('lets a growing share through, then all', async () => {
    const clock = new VirtualClock()
    let draw = 0
    const random = () => {
      draw = (draw + 0.618_034) % 1
      return draw
    }
    const breaker = breakerOf(clock, { rampUpMs: 1_000, random })
    await failTimes(breaker, 4)
    await clock.advance(1_000)
    await breaker.execute(up)
    expect(breaker.state).toBe('closed')
    const shares: number[] = []
    for (let step = 0; step < 5; step++) {
      const calls = await Promise.allSettled(Array.from({ length: 200 }, () => breaker.execute(up)))
      shares.push(calls.filter(({ status }) => status === 'fulfilled').length / 200)
      await clock.advance(250)
    }
    for (const [step, share] of [0.05, 0.25, 0.5, 0.75, 1].entries())
      expect(shares[step]).toBeCloseTo(share, 1)
  })

  it('rejects with what is left of it, and ends when the circuit opens again', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { rampUpMs: 1_000, random: () => 0.99 })
    await failTimes(breaker, 4)
    await clock.advance(1_000)
    await breaker.execute(up)
    await clock.advance(400)
    await expect(breaker.execute(up)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN', retryAfterMs: 600 })
    await clock.advance(600)
    await failTimes(breaker, 4)
    expect(breaker.state).toBe('open')
  })

  it('is not there where none was asked for, nor before anything was open', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { rampUpMs: 1_000, random: () => 0.99 })
    expect(await breaker.execute(up)).toBe('up')
  })
})
