import {
  BulkheadFullError,
  CircuitOpenError,
  compose,
  OptionError,
  RateLimitedError,
  type RetryOptions,
  retry,
  retryBudget,
} from '@tidegate/core'
import { ScriptedDependency, settled, VirtualClock } from '@tidegate/core/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { delayAfter } from '../src/retry/delay'
import { retryAfterOf } from '../src/retry/retry-after'
import { breakerOf, ignore, up } from './support/subject'

const down = new Error('down')

/** Doubling from 100 ms, nothing by chance. */
function retryOf(clock: VirtualClock, options: Partial<RetryOptions> = {}) {
  const jitter = options.backoff === 'decorrelated' ? {} : { jitter: 'none' as const }
  return retry({ name: 'payments', baseDelayMs: 100, ...jitter, clock, ...options })
}

/** When each attempt began, from the first on, and what became of the call. */
async function play(clock: VirtualClock, policy: ReturnType<typeof retry>, errors: unknown[], options = {}) {
  const start = clock.now()
  const attempts: number[] = []
  let end: unknown = 'pending'
  policy
    .execute(async ({ attempt }) => {
      attempts.push(clock.now() - start)
      expect(attempt).toBe(attempts.length)
      const error = errors[attempts.length - 1]
      if (error !== undefined) throw error
      return 'up'
    }, options)
    .then(
      (value) => {
        end = value
      },
      (error: unknown) => {
        end = error
      },
    )
  await clock.advance(100_000)
  return { attempts, end }
}

describe('a retry', () => {
  it('tries again, ever later, and hands out the first answer', async () => {
    const clock = new VirtualClock()
    expect(await play(clock, retryOf(clock), [down, down])).toEqual({ attempts: [0, 100, 300], end: 'up' })
  })

  it('rethrows the last error itself when it has tried enough', async () => {
    const clock = new VirtualClock()
    const last = new Error('down for good')
    const { attempts, end } = await play(clock, retryOf(clock), [down, down, last])
    expect(attempts).toHaveLength(3)
    expect(end).toBe(last)
  })

  it('tries no further what is an answer, a refusal, or a mistake in its options', async () => {
    for (const error of [
      Object.assign(new Error('not found'), { status: 404 }),
      new CircuitOpenError('payments', 5),
      new BulkheadFullError('payments', 5),
      new OptionError('x', 'x'),
    ]) {
      const clock = new VirtualClock()
      expect(await play(clock, retryOf(clock), [error])).toEqual({ attempts: [0], end: error })
    }
  })

  it('waits as long as it is asked to, up to its bound, and gives up beyond', async () => {
    const clock = new VirtualClock()
    const asks = (retryAfter: string) =>
      Object.assign(new Error('busy'), { status: 503, headers: { 'Retry-After': retryAfter } })
    expect((await play(clock, retryOf(clock), [asks('3'), asks('7')])).attempts).toEqual([0, 3_000, 10_000])
    const policy = retryOf(clock, { maxRetryAfterMs: 5_000 })
    expect((await play(clock, policy, [asks('3'), asks('7')])).attempts).toEqual([0, 3_000])
    const limited = new RateLimitedError('payments', 700, 'dependency')
    expect((await play(clock, retryOf(clock), [limited])).attempts).toEqual([0, 700])
  })

  it('tries again what resolves to a failure, frees its connection, and hands out the last one', async () => {
    const clock = new VirtualClock()
    const policy = retryOf(clock)
    const answers = [500, 503, 503].map((status) => {
      const cancelled = { count: 0 }
      const body = new ReadableStream({
        cancel() {
          cancelled.count++
        },
      })
      return { response: new Response(body, { status }), cancelled }
    })
    let calls = 0
    const ended = policy.execute(async () => answers[calls++]?.response)
    await clock.advance(1_000)
    expect(await ended).toBe(answers[2]?.response)
    expect(answers.map(({ cancelled }) => cancelled.count)).toEqual([1, 1, 0])
  })

  it('does not wait for an attempt that could only begin when the deadline has passed', async () => {
    const clock = new VirtualClock()
    const policy = retryOf(clock)
    const start = clock.now()
    let endedAt = 0
    const ended = policy
      .execute(() => Promise.reject(down), { deadlineMs: 250 })
      .catch((error: unknown) => {
        endedAt = clock.now() - start
        return error
      })
    await clock.advance(1_000)
    // After the second attempt at 100 ms there would be 200 ms to wait, and 150 are left.
    expect([await ended, endedAt]).toEqual([down, 100])
  })

  it('stops waiting when the caller goes away, and makes no further attempt', async () => {
    const clock = new VirtualClock()
    const caller = new AbortController()
    const dependency = new ScriptedDependency(clock, [{ error: down }])
    const ended = retryOf(clock).execute(dependency.call, { signal: caller.signal })
    await clock.advance(50)
    caller.abort('gone')
    await expect(ended).rejects.toBe('gone')
    await clock.advance(1_000)
    expect(dependency.calls).toBe(1)
    expect(clock.timers).toBe(0)
  })

  it('does not retry the failure that the caller’s going away was', async () => {
    const clock = new VirtualClock()
    const caller = new AbortController()
    const dependency = new ScriptedDependency<string>(clock, ['hang'])
    const ended = retryOf(clock).execute(dependency.call, { signal: caller.signal })
    caller.abort('gone')
    await expect(ended).rejects.toBe('gone')
    await clock.advance(1_000)
    expect(dependency.calls).toBe(1)
  })

  it('gives each attempt a signal of its own, and all of them one id', async () => {
    const clock = new VirtualClock()
    const seen: { signal: AbortSignal; correlationId: string }[] = []
    const ended = retryOf(clock)
      .execute(async ({ signal, correlationId }) => {
        seen.push({ signal, correlationId })
        throw down
      })
      .catch(ignore)
    await clock.advance(1_000)
    await ended
    expect(new Set(seen.map(({ signal }) => signal)).size).toBe(3)
    expect(new Set(seen.map(({ correlationId }) => correlationId)).size).toBe(1)
  })

  it('goes through a breaker within it once an attempt, and stops when that opens', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { minimumCalls: 2 })
    const dependency = new ScriptedDependency(clock, [{ error: down }])
    const pipeline = compose(retryOf(clock, { maxAttempts: 10 }), breaker)
    const ended = pipeline.execute(dependency.call).catch((error: unknown) => error)
    await clock.advance(10_000)
    expect(await ended).toMatchObject({ code: 'CIRCUIT_OPEN' })
    expect(dependency.calls).toBe(2)
  })

  it('adds no listener a call to a signal that lives long', async () => {
    const clock = new VirtualClock()
    const policy = retryOf(clock)
    const { signal } = new AbortController()
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>): void => {
      listeners++
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof remove>): void => {
      listeners--
      remove(...args)
    }
    await Promise.all(Array.from({ length: 2_000 }, () => policy.execute(up, { signal })))
    expect(listeners).toBe(0)
  })

  it('tells of each retry and of giving up', async () => {
    const clock = new VirtualClock()
    const policy = retryOf(clock, { maxAttempts: 2 })
    const told: object[] = []
    policy.on('retry', (event) => void told.push(event))
    policy.on('giveUp', (event) => void told.push(event))
    await play(clock, policy, [down, down])
    expect(told).toEqual([
      { attempt: 1, delayMs: 100, error: down },
      { attempts: 2, reason: 'attempts', error: down },
    ])
    expect(policy.stats()).toMatchObject({ calls: 1, retries: 1, givenUp: 1 })
  })

  it('takes other options from the next call on, and keeps what its budget has counted', async () => {
    const clock = new VirtualClock()
    const policy = retryOf(clock, { budget: { floor: 3, ratio: 0.2 } })
    await play(clock, policy, [down, down])
    expect(policy.stats().budgetLeft).toBe(3)
    const spend = policy.execute(() => Promise.reject(down)).catch(ignore)
    await clock.advance(301)
    await spend
    const { budgetLeft } = policy.stats()
    policy.reconfigure({ maxAttempts: 1 })
    expect(policy.stats().budgetLeft).toBe(budgetLeft)
    expect((await play(clock, policy, [down, down])).attempts).toEqual([0])
  })

  it('says which option does not fit', () => {
    for (const [options, message] of [
      [{ maxDelayMs: 5, baseDelayMs: 10 }, 'maxDelayMs must be at least baseDelayMs (10)'],
      [{ backoff: 'decorrelated', jitter: 'full' }, 'jitter must be left out'],
      [{ maxAttempts: 0 }, 'maxAttempts must be a whole number'],
      [{ budget: { ratio: 2 } }, 'ratio must be a number above 0 and at most 1'],
      [{ budget: true }, 'budget must be options of a budget'],
      [{ retries: 3 }, 'there is no option retries'],
    ] as const) {
      expect(() => retry({ name: 'x', ...options } as never)).toThrow(message)
    }
  })
})

describe('the budget of retries', () => {
  it('bounds the load that retries add to a brown-out to a fifth, and a floor', async () => {
    const clock = new VirtualClock()
    const policy = retryOf(clock, { maxAttempts: 5 })
    const dependency = new ScriptedDependency(clock, [{ error: down }])
    const calls = Array.from({ length: 1_000 }, () => policy.execute(dependency.call).catch(ignore))
    await clock.advance(9_000)
    await Promise.all(calls)
    expect(dependency.calls).toBe(1_000 + 200 + 10)
  })

  it('is one for all policies that share it', async () => {
    const clock = new VirtualClock()
    const budget = retryBudget({ ratio: 0.1, floor: 0, clock })
    const [a, b] = [retryOf(clock, { budget }), retryOf(clock, { budget })]
    const dependency = new ScriptedDependency(clock, [{ error: down }])
    for (let call = 0; call < 100; call++)
      void (call % 2 === 0 ? a : b).execute(dependency.call).catch(ignore)
    await clock.advance(5_000)
    expect(dependency.calls).toBe(110)
  })

  it('never gives more than its share of any window and its floor, whatever comes when', () => {
    const steps = fc.array(fc.tuple(fc.nat(3_000), fc.nat(40), fc.nat(20)), { maxLength: 40 })
    fc.assert(
      fc.property(steps, (plan) => {
        const clock = new VirtualClock()
        const budget = retryBudget({ ratio: 0.2, floor: 3, windowMs: 10_000, clock })
        const given: { at: number; calls: number; retries: number }[] = []
        for (const [ms, calls, wanted] of plan) {
          clock.freeze(ms)
          for (let call = 0; call < calls; call++) budget.addCall()
          let retries = 0
          for (let take = 0; take < wanted; take++) if (budget.take()) retries++
          given.push({ at: clock.now(), calls, retries })
          // What is counted together is counted as of the last of it.
          const within = given.filter(({ at }) => clock.now() - at < 9_000)
          const recent = given.filter(({ at }) => clock.now() - at < 13_000)
          const sum = (all: typeof given, of: 'calls' | 'retries') =>
            all.reduce((total, one) => total + one[of], 0)
          expect(sum(within, 'retries')).toBeLessThanOrEqual(3 + 0.2 * (sum(recent, 'calls') + 16))
        }
      }),
    )
  })
})

describe('the wait before an attempt', () => {
  const rule = { backoff: 'exponential', jitter: 'full', baseDelayMs: 100, maxDelayMs: 1_000 } as const

  it.each([
    [{ ...rule, jitter: 'none' }, 1, 0, 0.5, 100],
    [{ ...rule, jitter: 'none' }, 3, 0, 0.5, 400],
    [{ ...rule, jitter: 'none' }, 9_999, 0, 0.5, 1_000],
    [rule, 3, 0, 0.5, 200],
    [rule, 3, 0, 0, 0],
    [{ ...rule, backoff: 'constant', jitter: 'none' }, 7, 0, 0.5, 100],
    [{ ...rule, backoff: 'decorrelated' }, 1, 0, 0.5, 200],
    [{ ...rule, backoff: 'decorrelated' }, 2, 200, 0.5, 350],
    [{ ...rule, backoff: 'decorrelated' }, 9, 900, 0.99, 1_000],
  ] as const)('%j, after attempt %i and %i ms, by chance %f: %i', (given, attempt, previous, random, ms) => {
    expect(delayAfter(given, attempt, previous, random)).toBe(ms)
  })
})

describe('how long the other side asks to be left alone', () => {
  const now = Date.parse('Tue, 01 Dec 2026 06:00:00 GMT')

  it.each([
    [{ retryAfterMs: 250 }, 250],
    [{ headers: { 'retry-after': '7' } }, 7_000],
    [{ headers: new Headers({ 'Retry-After': '7' }) }, 7_000],
    [{ response: { headers: { 'Retry-After': 'Tue, 01 Dec 2026 06:00:30 GMT' } } }, 30_000],
    [{ headers: { 'Retry-After': 'Tue, 01 Dec 2026 05:00:00 GMT' } }, 0],
    [{ cause: { headers: { 'RETRY-AFTER': 2 } } }, 2_000],
    [{ headers: { 'Retry-After': '-5' } }, undefined],
    [{ headers: { 'Retry-After': '1.5' } }, undefined],
    [{ headers: { 'Retry-After': 'soon' } }, undefined],
    [{ headers: null, response: null, cause: 'x' }, undefined],
    [{ retryAfterMs: Number.NaN }, undefined],
    ['7', undefined],
    [undefined, undefined],
  ])('%o: %s', (outcome, ms) => {
    expect(retryAfterOf(outcome, now)).toBe(ms)
  })
})

describe('policies that are left behind', () => {
  it('leave no rejection unhandled', async () => {
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    const clock = new VirtualClock()
    const caller = new AbortController()
    const ended = retryOf(clock)
      .execute(() => new Promise((_, reject) => void clock.setTimeout(() => reject(down), 50)), {
        signal: caller.signal,
      })
      .catch(ignore)
    caller.abort()
    await ended
    await clock.advance(1_000)
    await settled()
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).toEqual([])
  })
})
