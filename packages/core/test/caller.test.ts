import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { breakerOf, ignore, listen, Pending, up } from './support/subject'
import { settled, VirtualClock } from './support/virtual-clock'

describe('a caller and its call', () => {
  it('leaves no listener on a signal after 10,000 calls, and one while they run', async () => {
    const breaker = breakerOf(new VirtualClock())
    const { signal } = new AbortController()
    const pending = new Pending<string>()
    const calls = Array.from({ length: 10_000 }, () => breaker.execute(pending.run, { signal }))
    await settled()
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    pending.resolve('up')
    await Promise.all(calls)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('counts a time limit of its own as a failure, and its leaving as nothing', async () => {
    const breaker = breakerOf(new VirtualClock())
    for (const [reason, failures] of [
      [new DOMException('gone', 'AbortError'), 0],
      [new Error('navigated away'), 0],
      [undefined, 0],
      [new DOMException('too slow', 'TimeoutError'), 1],
    ] as const) {
      const caller = new AbortController()
      const call = breaker.execute(new Pending().run, { signal: caller.signal })
      await settled()
      caller.abort(reason)
      await expect(call).rejects.toBe(caller.signal.reason)
      expect(breaker.stats().failures).toBe(failures)
    }
    expect(breaker.stats().successes).toBe(0)
  })

  it('is heard at once, whether or not the function listens', async () => {
    const breaker = breakerOf(new VirtualClock())
    const caller = new AbortController()
    const pending = new Pending<string>()
    const call = breaker.execute(pending.run, { signal: caller.signal })
    await settled()
    caller.abort(new Error('gone'))
    expect(pending.signal?.aborted).toBe(true)
    expect(pending.signal?.reason).toBe(caller.signal.reason)
    await expect(call).rejects.toThrow('gone')
  })

  it('starts nothing for a caller who has left', async () => {
    const breaker = breakerOf(new VirtualClock())
    const pending = new Pending<string>()
    await expect(breaker.execute(pending.run, { signal: AbortSignal.abort('gone') })).rejects.toBe('gone')
    expect(pending.calls).toBe(0)
  })

  it('starts nothing with a deadline of 0, and ends with a TimeoutError when it passes', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock)
    const pending = new Pending<string>()
    await expect(breaker.execute(pending.run, { deadlineMs: 0 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    expect(pending.calls).toBe(0)
    const call = breaker.execute(pending.run, { deadlineMs: 200 })
    const ended = expect(call).rejects.toMatchObject({ code: 'TIMEOUT', timeoutMs: 200 })
    await clock.advance(200)
    await ended
    expect(breaker.stats().failures).toBe(1)
    await breaker.execute(up, { deadlineMs: 1e12 })
    await breaker.execute(up, { deadlineMs: Number.POSITIVE_INFINITY })
    for (const deadlineMs of [Number.NaN, '100' as never]) {
      await expect(breaker.execute(up, { deadlineMs })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    }
  })

  it('leaves no unhandled rejection after a timeout', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock)
    const pending = new Pending<string>()
    const call = breaker.execute(pending.run, { deadlineMs: 10 }).catch(ignore)
    await clock.advance(10)
    await call
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    pending.reject(new Error('late'))
    await settled()
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).toEqual([])
  })

  it('counts a 503 that fetch resolved with as a failure, and a 404 as an answer', async () => {
    const breaker = breakerOf(new VirtualClock(), { minimumCalls: 100 })
    for (const status of [503, 500, 429, 408])
      await breaker.execute(async () => new Response(null, { status }))
    expect(breaker.stats()).toMatchObject({ successes: 0, failures: 4 })
    await breaker.reset()
    for (const status of [200, 404, 400]) await breaker.execute(async () => new Response(null, { status }))
    // Not a Response, whatever it says of a status.
    await breaker.execute(async () => ({ status: 503 }))
    expect(breaker.stats()).toMatchObject({ successes: 4, failures: 0 })
  })

  it('looks through causes for a status', async () => {
    const breaker = breakerOf(new VirtualClock(), { minimumCalls: 1_000 })
    const cyclic = new Error('cyclic')
    cyclic.cause = cyclic
    const errors: readonly (readonly [unknown, 'failures' | 'successes'])[] = [
      [Object.assign(new Error('x'), { status: 503 }), 'failures'],
      [Object.assign(new Error('x'), { statusCode: 404 }), 'successes'],
      [new Error('x', { cause: Object.assign(new Error('y'), { status: 422 }) }), 'successes'],
      [new Error('x', { cause: Object.assign(new Error('y'), { status: 429 }) }), 'failures'],
      [Object.assign(new Error('x'), { response: { status: 404 } }), 'successes'],
      [Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'failures'],
      [Object.assign(new Error('x'), { status: 1 }), 'failures'],
      [cyclic, 'failures'],
      ['a string', 'failures'],
      [null, 'failures'],
    ]
    for (const [error, counter] of errors) {
      const before = breaker.stats()[counter]
      await breaker.execute(() => Promise.reject(error)).catch(ignore)
      expect(breaker.stats()[counter], String(error)).toBe(before + 1)
    }
  })

  it('takes the user’s word for what a failure is', async () => {
    const breaker = breakerOf(new VirtualClock(), {
      isFailure: (error) => (error as Error).message === 'bad',
      isFailureResult: (value) => value === 'poor',
    })
    await breaker.execute(() => Promise.reject(new Error('fine'))).catch(ignore)
    await breaker.execute(() => Promise.reject(new Error('bad'))).catch(ignore)
    await breaker.execute(async () => 'poor')
    expect(breaker.stats()).toMatchObject({ successes: 1, failures: 2 })
  })

  it('gets thrown errors, thenables and plain values as they are', async () => {
    const breaker = breakerOf(new VirtualClock())
    const error = new Error('thrown at once')
    await expect(
      breaker.execute(() => {
        throw error
      }),
    ).rejects.toBe(error)
    expect(await breaker.execute(() => 7)).toBe(7)
    const foreign = Object.defineProperty({}, 'then', {
      value: (resolve: (value: number) => void) => resolve(8),
    })
    expect(await breaker.execute(() => foreign)).toBe(8)
    await expect(breaker.execute(undefined as never)).rejects.toThrow(
      'execute: a function must be given, got undefined',
    )
    expect(breaker.stats()).toMatchObject({ successes: 2, failures: 1 })
  })

  it('keeps a wrapped function’s arguments, result and this', async () => {
    const breaker = breakerOf(new VirtualClock())
    const account = {
      balance: 5,
      add: breaker.wrap(async function (this: { balance: number }, a: number, b: number) {
        return this.balance + a + b
      }),
    }
    expect(await account.add(1, 2)).toBe(8)
  })

  it('is told its attempt, its fence and its metadata', async () => {
    const breaker = breakerOf(new VirtualClock())
    const seen = await breaker.execute(({ attempt, fence, metadata }) => ({ attempt, fence, metadata }), {
      metadata: 'mine',
    })
    expect(seen).toEqual({ attempt: 1, fence: breaker.stats().fence, metadata: 'mine' })
  })

  it('is rejected without a stack, or with one where asked', async () => {
    for (const stackTraces of [false, true]) {
      const breaker = breakerOf(new VirtualClock(), { stackTraces })
      await breaker.isolate()
      const error = await breaker.execute(up).catch((reason: Error) => reason)
      const frames = String((error as Error).stack).split('\n').length - 1
      expect(frames > 0).toBe(stackTraces)
    }
    expect(String(new Error('x').stack).split('\n').length).toBeGreaterThan(1)
  })

  it('is not disturbed by a listener that throws or rejects', async () => {
    const breaker = breakerOf(new VirtualClock())
    const complaints: unknown[] = []
    const { error } = console
    console.error = (...args: unknown[]) => complaints.push(args)
    const heard = listen(breaker, 'success')
    breaker.on('success', () => {
      throw new Error('a listener’s own')
    })
    breaker.on('success', (async () => {
      throw new Error('a listener’s own')
    }) as never)
    const also = listen(breaker, 'success')
    for (let call = 0; call < 3; call++) expect(await breaker.execute(up)).toBe('up')
    await settled()
    console.error = error
    expect(heard).toHaveLength(3)
    expect(also).toHaveLength(3)
    expect(complaints).toHaveLength(1)
  })

  it('stops hearing when it says so', async () => {
    const breaker = breakerOf(new VirtualClock())
    let heard = 0
    const listener = () => heard++
    const stop = breaker.on('success', listener)
    breaker.on('success', listener)
    stop()
    stop()
    await breaker.execute(up)
    expect(heard).toBe(1)
  })

  it('is told by rejection() what would become of it, and what it would be told then', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock)
    expect(breaker.rejection()).toBeUndefined()
    for (let call = 0; call < 4; call++)
      await breaker.execute(() => Promise.reject(new Error('down'))).catch(ignore)
    expect(breaker.rejection()).toMatchObject({ code: 'CIRCUIT_OPEN', retryAfterMs: 1_000 })
    await clock.advance(1_000)
    expect(breaker.rejection()).toBeUndefined()
    const probe = new Pending<string>()
    const call = breaker.execute(probe.run)
    await settled()
    expect(breaker.rejection()).toMatchObject({ code: 'CIRCUIT_OPEN' })
    probe.resolve('up')
    await call
    expect(breaker.rejection()).toBeUndefined()
    await breaker.isolate()
    expect(breaker.rejection()).toMatchObject({ code: 'CIRCUIT_ISOLATED' })
    expect(breaker.stats().rejected).toBe(0)
  })
})
