import { type CallContext, compose, type HedgeOptions, hedge, retryBudget } from '@tidegate/core'
import { settled, VirtualClock } from '@tidegate/core/testing'
import { describe, expect, it } from 'vitest'
import { breakerOf, ignore, Pending, up } from './support/subject'

function hedgeOf(clock: VirtualClock, options: Partial<HedgeOptions> = {}) {
  return hedge({ name: 'search', ...(options.quantile === undefined && { delayMs: 100 }), clock, ...options })
}

/** Attempts whose ends are in the test's hands. */
function attempts() {
  const all: { pending: Pending<string>; context: CallContext }[] = []
  const run = (context: CallContext): Promise<string> => {
    const pending = new Pending<string>()
    all.push({ pending, context })
    return pending.run(context)
  }
  return { all, run }
}

describe('a hedge', () => {
  it('makes no second attempt beside one that is quick, and leaves no timer', async () => {
    const clock = new VirtualClock()
    const policy = hedgeOf(clock)
    await expect(policy.execute(up)).resolves.toBe('up')
    await clock.advance(200)
    expect(policy.stats()).toEqual({ calls: 1, hedges: 0, wins: 0 })
    expect(clock.timers).toBe(0)
  })

  it('takes the first answer, and aborts the other attempt with no evidence against anybody', async () => {
    const clock = new VirtualClock()
    const policy = hedgeOf(clock)
    const { all, run } = attempts()
    const call = policy.execute(run)
    await clock.advance(99)
    expect(all).toHaveLength(1)
    await clock.advance(1)
    expect(all.map(({ context }) => context.attempt)).toEqual([1, 2])
    all[1]?.pending.resolve('second')
    await expect(call).resolves.toBe('second')
    expect(all.map(({ context }) => context.signal.aborted)).toEqual([true, false])
    expect(all[0]?.context.signal.reason).toMatchObject({ name: 'AbortError' })
    expect(policy.stats()).toEqual({ calls: 1, hedges: 1, wins: 1 })
  })

  it('waits for the others where one attempt fails, and fails with the last', async () => {
    const clock = new VirtualClock()
    const { all, run } = attempts()
    const call = hedgeOf(clock).execute(run)
    await clock.advance(100)
    all[0]?.pending.reject(new Error('first'))
    await settled()
    all[1]?.pending.reject(new Error('second'))
    await expect(call).rejects.toThrow('second')
  })

  it('leaves no rejection of a loser unhandled', async () => {
    const clock = new VirtualClock()
    const { all, run } = attempts()
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    const call = hedgeOf(clock).execute(run)
    await clock.advance(100)
    all[1]?.pending.resolve('second')
    await call
    all[0]?.pending.reject(new Error('late'))
    await settled()
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).toEqual([])
  })

  it('ends all attempts when the caller goes away', async () => {
    const clock = new VirtualClock()
    const { all, run } = attempts()
    const caller = new AbortController()
    const call = hedgeOf(clock).execute(run, { signal: caller.signal })
    await clock.advance(100)
    const signals = all.map(({ context }) => context.signal)
    caller.abort('gone')
    await expect(call).rejects.toBe('gone')
    expect(signals.map(({ aborted, reason }) => [aborted, reason])).toEqual([
      [true, 'gone'],
      [true, 'gone'],
    ])
    await clock.advance(1_000)
    expect(all).toHaveLength(2)
  })

  it('begins no attempt that the deadline leaves no time for', async () => {
    const clock = new VirtualClock()
    const { all, run } = attempts()
    const call = hedgeOf(clock).execute(run, { deadlineMs: 100 }).catch(ignore)
    await clock.advance(100)
    await call
    expect(all).toHaveLength(1)
  })

  it('is no failure to a breaker within it', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { minimumCalls: 1 })
    const { all, run } = attempts()
    const call = compose(hedgeOf(clock), breaker).execute(run)
    await clock.advance(100)
    all[1]?.pending.resolve('second')
    await call
    await settled()
    expect(breaker.stats()).toMatchObject({ successes: 1, failures: 0 })
  })

  it('keeps within the budget that it shares', async () => {
    const clock = new VirtualClock()
    const budget = retryBudget({ ratio: 0.1, floor: 0, clock })
    const policy = hedgeOf(clock, { budget })
    const { all, run } = attempts()
    for (let call = 0; call < 50; call++) void policy.execute(run).catch(ignore)
    await clock.advance(100)
    expect(all).toHaveLength(55)
  })

  it('waits for as long as most attempts take, once it has seen some', async () => {
    const clock = new VirtualClock()
    const policy = hedgeOf(clock, { quantile: 0.9 })
    const slow = new Pending<string>()
    void policy.execute(slow.run)
    await clock.advance(10_000)
    expect(policy.stats().hedges).toBe(0)
    slow.resolve('at last')
    for (let call = 0; call < 100; call++) {
      const pending = new Pending<string>()
      const ended = policy.execute(pending.run)
      await clock.advance(20)
      pending.resolve('done')
      await ended
    }
    const { all, run } = attempts()
    void policy.execute(run)
    await clock.advance(15)
    expect(all).toHaveLength(1)
    await clock.advance(10)
    expect(all).toHaveLength(2)
    all[1]?.pending.resolve('second')
  })

  it('says which option does not fit', () => {
    for (const [options, message] of [
      [{ delayMs: 5, quantile: 0.9 }, 'delayMs and quantile exclude each other'],
      [{ maxAttempts: 1 }, 'maxAttempts must be a whole number, at least 2'],
      [{ quantile: 95 }, 'quantile must be a number above 0 and at most 1'],
      [{ delay: 5 }, 'there is no option delay'],
    ] as const) {
      expect(() => hedge({ name: 'x', ...options } as never)).toThrow(message)
    }
  })
})
