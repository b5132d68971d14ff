import { type BulkheadOptions, bulkhead, type CallContext, compose } from '@tidegate/core'
import { settled, VirtualClock } from '@tidegate/core/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { breakerOf, ignore, listen, Pending, up } from './support/subject'

function bulkheadOf(clock: VirtualClock, options: Partial<BulkheadOptions> = {}) {
  const waits = options.queue === undefined ? {} : { maxWaitMs: 1_000 }
  return bulkhead({ name: 'payments', limit: 1, ...waits, clock, ...options })
}

const codeOf = (call: Promise<unknown>) => call.catch((error: { code?: string }) => error.code ?? error)

/** A call that says when it began. */
function starting(began: string[], name: string, pending = new Pending<string>()) {
  const run = (context: CallContext): Promise<string> => {
    began.push(name)
    return pending.run(context)
  }
  return { run, pending }
}

describe('a bulkhead', () => {
  it('lets so many in, so many wait, and refuses the rest', async () => {
    const clock = new VirtualClock()
    const policy = bulkheadOf(clock, { limit: 2, queue: 1 })
    const rejects = listen(policy as never, 'reject' as never) as { event: object }[]
    const held = new Pending<string>()
    const calls = Array.from({ length: 5 }, () => codeOf(policy.execute(held.run)))
    await settled()
    expect(held.calls).toBe(2)
    expect(policy.stats()).toMatchObject({ inUse: 2, queued: 1, limit: 2, rejected: 2 })
    held.resolve('done')
    expect(await Promise.all(calls)).toEqual(['done', 'done', 'done', 'BULKHEAD_FULL', 'BULKHEAD_FULL'])
    expect(policy.stats()).toMatchObject({ inUse: 0, queued: 0 })
    expect(rejects.map(({ event }) => event)).toEqual(
      Array(2).fill({ reason: 'full', retryAfterMs: undefined }),
    )
  })

  it('lets those who wait in as they came, and whoever has more priority before', async () => {
    const clock = new VirtualClock()
    const policy = bulkheadOf(clock, { queue: 9, priority: ({ metadata }) => metadata as number })
    const began: string[] = []
    const first = starting(began, 'first')
    const calls = [policy.execute(first.run)]
    for (const [name, priority] of [
      ['a', 0],
      ['b', 5],
      ['c', 0],
      ['d', 5],
    ] as const) {
      calls.push(policy.execute(async () => String(began.push(name)), { metadata: priority }))
    }
    first.pending.resolve('done')
    await Promise.all(calls)
    expect(began).toEqual(['first', 'b', 'd', 'a', 'c'])
  })

  it('lets the latest in first once waits have grown, where it is told to', async () => {
    const clock = new VirtualClock()
    const policy = bulkheadOf(clock, { queue: 9, order: 'lifo-under-overload' })
    const began: string[] = []
    const [first, second] = [starting(began, 'first'), starting(began, 'second')]
    const calls = [policy.execute(first.run), policy.execute(second.run)]
    const wait = (name: string) => calls.push(policy.execute(async () => String(began.push(name))))
    for (const name of ['a', 'b', 'c']) wait(name)
    await clock.advance(499)
    first.pending.resolve('done')
    await settled()
    // Calm still: the one who came first is next.
    expect(began).toEqual(['first', 'second'])
    await clock.advance(1)
    wait('d')
    second.pending.resolve('done')
    await Promise.all(calls)
    expect(began).toEqual(['first', 'second', 'd', 'c', 'b', 'a'])
  })

  it('refuses who has waited for long enough, and says how long the others take', async () => {
    const clock = new VirtualClock()
    const policy = bulkheadOf(clock, { queue: 2 })
    const held = new Pending<string>()
    void policy.execute(held.run)
    const waiting = codeOf(policy.execute(up))
    await clock.advance(999)
    expect(policy.stats()).toMatchObject({ queued: 1, oldestMs: 999 })
    await clock.advance(1)
    expect(await waiting).toBe('BULKHEAD_FULL')
    expect(policy.stats()).toMatchObject({ queued: 0, oldestMs: 0 })
    held.resolve('done')
  })

  it('keeps no place for who has left, and gives him no slot', async () => {
    const clock = new VirtualClock()
    const policy = bulkheadOf(clock, { queue: 2 })
    const held = new Pending<string>()
    void policy.execute(held.run)
    const left = new Pending<string>()
    for (let caller = 0; caller < 50; caller++) {
      const controller = new AbortController()
      const call = policy.execute(left.run, { signal: controller.signal }).catch(ignore)
      controller.abort()
      await call
    }
    const stays = policy.execute(up)
    held.resolve('done')
    await expect(stays).resolves.toBe('up')
    expect(left.calls).toBe(0)
    expect(policy.stats()).toMatchObject({ inUse: 0, queued: 0, rejected: 0 })
    await clock.advance(60)
    expect(clock.timers).toBe(0)
  })

  it('keeps the slot of a call that its caller gave up, until the function has settled', async () => {
    const clock = new VirtualClock()
    const policy = bulkheadOf(clock)
    const held = new Pending<string>()
    const ended = codeOf(policy.execute(held.run, { deadlineMs: 100 }))
    await clock.advance(100)
    expect(await ended).toBe('TIMEOUT')
    expect(await codeOf(policy.execute(up))).toBe('BULKHEAD_FULL')
    held.resolve('late')
    await settled()
    expect(await codeOf(policy.execute(up))).toBe('up')
  })

  it('says when a slot is likely to be free, once it has seen some become free', async () => {
    const clock = new VirtualClock()
    const policy = bulkheadOf(clock, { queue: 3 })
    const began: string[] = []
    const held = Array.from({ length: 4 }, (_, index) => starting(began, String(index)))
    const calls = held.map(({ run }) => policy.execute(run))
    for (const { pending } of held.slice(0, 3)) {
      await clock.advance(40)
      pending.resolve('done')
      await settled()
    }
    for (let caller = 0; caller < 3; caller++) calls.push(policy.execute(up))
    await expect(policy.execute(up)).rejects.toMatchObject({ retryAfterMs: 160 })
    held[3]?.pending.resolve('done')
    await Promise.all(calls)
  })

  it('waits within itself no longer than it may', async () => {
    const clock = new VirtualClock()
    const policy = bulkheadOf(clock, { queue: 1 })
    const inner = codeOf(policy.execute(() => policy.execute(up)))
    await clock.advance(1_000)
    expect(await inner).toBe('BULKHEAD_FULL')
    expect(policy.stats()).toMatchObject({ inUse: 0, queued: 0 })
  })

  it('refuses what is no evidence against the dependency', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { minimumCalls: 1 })
    const pipeline = compose(breaker, bulkheadOf(clock))
    const held = new Pending<string>()
    const call = pipeline.execute(held.run)
    await settled()
    expect(await codeOf(pipeline.execute(up))).toBe('BULKHEAD_FULL')
    held.resolve('done')
    await call
    expect(breaker.stats()).toMatchObject({ failures: 0, state: 'closed' })
  })

  it('lets those in who wait when its limit grows', async () => {
    const clock = new VirtualClock()
    const policy = bulkheadOf(clock, { queue: 3 })
    const held = new Pending<string>()
    const calls = Array.from({ length: 4 }, () => policy.execute(held.run))
    policy.reconfigure({ limit: 3 })
    await settled()
    expect(policy.stats()).toMatchObject({ inUse: 3, queued: 1, limit: 3 })
    policy.reconfigure({ limit: 1 })
    held.resolve('done')
    await Promise.all(calls)
    expect(policy.stats()).toMatchObject({ inUse: 0, queued: 0, limit: 1 })
  })

  it('loses no slot and gives none twice, in whatever order calls come, settle and leave', async () => {
    const actions = fc.array(
      fc.tuple(fc.constantFrom('call', 'settle', 'fail', 'leave', 'wait'), fc.nat(20)),
      { maxLength: 80 },
    )
    await fc.assert(
      fc.asyncProperty(actions, fc.integer({ min: 1, max: 4 }), fc.nat(4), async (plan, limit, queue) => {
        const clock = new VirtualClock()
        const policy = bulkhead({
          name: 'any',
          limit,
          clock,
          ...(queue > 0 && { queue, maxWaitMs: 100, order: 'lifo-under-overload' }),
        })
        const running: Pending<string>[] = []
        const callers: AbortController[] = []
        const ends: Promise<unknown>[] = []
        for (const [action, nth] of plan) {
          if (action === 'call') {
            const [caller, pending] = [new AbortController(), new Pending<string>()]
            callers.push(caller)
            const run = (context: CallContext): Promise<string> => {
              running.push(pending)
              return pending.run(context)
            }
            ends.push(codeOf(policy.execute(run, { signal: caller.signal })))
          } else if (action === 'leave') callers[nth % Math.max(1, callers.length)]?.abort()
          else if (action === 'wait') await clock.advance(nth)
          else {
            const [pending] = running.splice(nth % Math.max(1, running.length), 1)
            if (action === 'settle') pending?.resolve('done')
            else pending?.reject(new Error('down'))
          }
          await settled()
          expect(running.length).toBeLessThanOrEqual(limit)
          expect(policy.stats()).toMatchObject({ inUse: running.length })
          expect(policy.stats().queued).toBeLessThanOrEqual(queue)
        }
        await clock.advance(200)
        while (running.length > 0) {
          for (const pending of running.splice(0)) pending.resolve('done')
          await settled()
        }
        await Promise.all(ends)
        expect(policy.stats()).toMatchObject({ inUse: 0, queued: 0 })
        await clock.advance(60)
        expect(clock.timers).toBe(0)
      }),
      { numRuns: 60 },
    )
  })

  it('says which option does not fit', () => {
    for (const [options, message] of [
      [{ limit: 1, queue: 5 }, 'maxWaitMs must be given with a queue'],
      [{ limit: 1, maxWaitMs: 5 }, 'maxWaitMs must be left out without a queue'],
      [{ limit: 1, order: 'fifo' }, 'order must be left out without a queue'],
      [{ limit: 0 }, 'limit must be a whole number'],
      [{}, 'limit must be given'],
      [{ limit: 1, queue: 1, maxWaitMs: 5, order: 'lifo' }, "order must be 'fifo' or 'lifo-under-overload'"],
    ] as const) {
      expect(() => bulkhead({ name: 'x', ...options } as never)).toThrow(message)
    }
  })
})
