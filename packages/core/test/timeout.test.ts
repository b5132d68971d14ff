import { runInNewContext } from 'node:vm'
import { compose, TimeoutError, timeout } from '@tidegate/core'
import { ScriptedDependency, settled, VirtualClock } from '@tidegate/core/testing'
import { describe, expect, it } from 'vitest'
import { breakerOf, ignore, listen, Pending, up } from './support/subject'

function limitOf(clock: VirtualClock, timeoutMs = 100) {
  return timeout({ name: 'payments', timeoutMs, clock })
}

describe('a timeout', () => {
  it('aborts the signal and stops waiting, whether or not the function listens', async () => {
    const clock = new VirtualClock()
    const limit = limitOf(clock)
    const { call } = new ScriptedDependency<string>(clock, ['hang', 'ignore'])
    for (let round = 0; round < 2; round++) {
      const ended = limit.execute(call).catch((error: unknown) => error)
      await clock.advance(100)
      expect(await ended).toMatchObject({ code: 'TIMEOUT', timeoutMs: 100 })
    }
    expect(limit.stats()).toMatchObject({ timeouts: 2 })
  })

  it('lets through what comes in time, and leaves no timer', async () => {
    const clock = new VirtualClock()
    const limit = limitOf(clock)
    await expect(limit.execute(up)).resolves.toBe('up')
    const failed = new Error('down')
    await expect(limit.execute(() => Promise.reject(failed))).rejects.toBe(failed)
    await expect(
      limit.execute(() => {
        throw failed
      }),
    ).rejects.toBe(failed)
    await clock.advance(50)
    expect(clock.timers).toBe(0)
    expect(limit.stats()).toEqual({ timeouts: 0, abandoned: 0 })
  })

  it('swallows what comes late, and tells of it', async () => {
    const clock = new VirtualClock()
    const limit = limitOf(clock)
    const late = listen(limit as never, 'late' as never) as { event: object }[]
    const [value, error] = [new Pending<string>(), new Pending<string>()]
    const ends = [value, error].map((pending) =>
      limit.execute(pending.run).catch((thrown: unknown) => thrown),
    )
    await clock.advance(100)
    for (const end of await Promise.all(ends)) expect(end).toBeInstanceOf(TimeoutError)
    expect(limit.stats()).toEqual({ timeouts: 2, abandoned: 2 })
    await clock.advance(40)
    value.resolve('late')
    error.reject(new Error('late'))
    // A rejection that reached nobody would end the test run.
    await settled()
    expect(late.map(({ event }) => event)).toEqual([
      { durationMs: 140 },
      { error: new Error('late'), durationMs: 140 },
    ])
    expect(limit.stats()).toEqual({ timeouts: 2, abandoned: 0 })
  })

  it('takes the smaller of itself and the deadline, and says how much is left', async () => {
    const clock = new VirtualClock()
    const limit = limitOf(clock)
    const left: number[] = []
    const look = async ({ remainingMs }: { remainingMs: number }) => void left.push(remainingMs)
    await limit.execute(look)
    await limit.execute(look, { deadlineMs: 30 })
    await limit.execute(look, { deadlineMs: 3_000 })
    await compose(limit, limitOf(clock, 40)).execute(look)
    expect(left).toEqual([100, 30, 100, 40])
    const ended = limit
      .execute(() => new Promise(ignore), { deadlineMs: 30 })
      .catch((error: unknown) => error)
    await clock.advance(30)
    expect(await ended).toMatchObject({ code: 'TIMEOUT', timeoutMs: 30 })
  })

  it('is no failure of the caller who went away before', async () => {
    const clock = new VirtualClock()
    const limit = limitOf(clock)
    const caller = new AbortController()
    const ended = limit.execute(() => new Promise(ignore), { signal: caller.signal })
    caller.abort('gone')
    await expect(ended).rejects.toBe('gone')
    await clock.advance(1_000)
    expect(limit.stats().timeouts).toBe(0)
  })

  it('counts against a breaker around it, and aborts only its own call', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock, { minimumCalls: 2 })
    const pipeline = compose(breaker, limitOf(clock))
    const slow = new Pending<string>()
    const first = pipeline.execute(() => new Promise(ignore)).catch(ignore)
    await clock.advance(60)
    const second = pipeline.execute(slow.run)
    await clock.advance(50)
    slow.resolve('in time')
    await expect(second).resolves.toBe('in time')
    await first
    expect(breaker.stats()).toMatchObject({ failures: 1, successes: 1 })
  })

  it('waits for a thenable of another realm', async () => {
    const foreign = runInNewContext('({ then(resolve) { resolve("from afar") } })') as PromiseLike<string>
    await expect(limitOf(new VirtualClock()).execute(() => foreign)).resolves.toBe('from afar')
  })

  it('may be used within itself', async () => {
    const limit = limitOf(new VirtualClock())
    await expect(limit.execute(() => limit.execute(up))).resolves.toBe('up')
  })

  it('is refused within a shorter one, which it could never reach', () => {
    const clock = new VirtualClock()
    expect(() => compose(limitOf(clock, 100), breakerOf(clock), limitOf(clock, 100))).toThrow(
      'could never be reached',
    )
    compose(limitOf(clock, 100), breakerOf(clock), limitOf(clock, 99))
  })

  it('takes another limit from the next call on', async () => {
    const clock = new VirtualClock()
    const limit = limitOf(clock)
    limit.reconfigure({ timeoutMs: 20 })
    const ended = limit.execute(() => new Promise(ignore)).catch((error: unknown) => error)
    await clock.advance(20)
    expect(await ended).toMatchObject({ timeoutMs: 20 })
    expect(() => limit.reconfigure({ timeoutMs: 0 })).toThrow('timeoutMs must be a whole number')
    expect(limit.timeoutMs).toBe(20)
  })

  it('says which option does not fit', () => {
    for (const [options, message] of [
      [{ name: 'x' }, 'timeoutMs must be given'],
      [{ name: 'x', timeoutMs: 2 ** 31 }, 'timeoutMs must be a whole number of milliseconds'],
      [{ timeoutMs: 5 }, 'name must be a string'],
      [{ name: 'x', timeoutMs: 5, timeout: 5 }, 'there is no option timeout'],
    ] as const) {
      expect(() => timeout(options as never)).toThrow(message)
    }
  })
})
