import { compose, fallback, OptionError, timeout } from '@tidegate/core'
import { ScriptedDependency, settled, VirtualClock } from '@tidegate/core/testing'
import { describe, expect, it } from 'vitest'
import { breakerOf, down, ignore, listen, Pending, up } from './support/subject'

describe('a fallback', () => {
  it('answers a value where a call failed, and leaves what succeeds alone', async () => {
    const policy = fallback({ name: 'rates', fallback: 'a default' })
    await expect(policy.execute(up)).resolves.toBe('up')
    await expect(policy.execute(down)).resolves.toBe('a default')
    expect(policy.stats()).toEqual({ calls: 2, replaced: 1 })
  })

  it('answers undefined where that is what is said', async () => {
    await expect(fallback({ name: 'rates', fallback: undefined }).execute(down)).resolves.toBeUndefined()
  })

  it('asks a function, with the error and whose call it was', async () => {
    const seen: unknown[] = []
    const policy = fallback({ name: 'rates', fallback: async (...given: unknown[]) => seen.push(...given) })
    await expect(policy.execute(down, { key: 'eur', metadata: 3 })).resolves.toBe(2)
    expect(seen).toEqual([new Error('down'), { key: 'eur', metadata: 3 }])
  })

  it('tries a list in turn, and tells which one it was', async () => {
    const failing = (name: string) => () => {
      throw new Error(name)
    }
    const policy = fallback({ name: 'rates', fallback: [failing('cache'), async () => down(), 'a default'] })
    const told = listen(policy as never, 'fallback' as never) as { event: { index: number; error: Error } }[]
    await expect(policy.execute(down)).resolves.toBe('a default')
    expect(told.map(({ event }) => [event.index, event.error.message])).toEqual([[2, 'down']])
  })

  it('throws what the last of a list threw, as it is', async () => {
    const shared = Object.freeze(new Error('no cache'))
    const policy = fallback({ name: 'rates', fallback: () => Promise.reject(shared) })
    await expect(policy.execute(down)).rejects.toBe(shared)
    // Of many callers: what one of them was told stays his.
    expect(shared.cause).toBeUndefined()
  })

  it('answers no caller who went away', async () => {
    let asked = 0
    const policy = fallback({ name: 'rates', fallback: () => asked++ })
    const caller = new AbortController()
    const { call } = new ScriptedDependency<number>(new VirtualClock(), ['hang'])
    const ended = policy.execute(call, { signal: caller.signal })
    caller.abort('gone')
    await expect(ended).rejects.toBe('gone')
    await settled()
    expect(asked).toBe(0)
  })

  it('answers once where a time limit passed and the failure comes after it', async () => {
    const clock = new VirtualClock()
    let asked = 0
    const limit = timeout({ name: 'rates', timeoutMs: 100, clock })
    const pipeline = compose(fallback({ name: 'rates', fallback: () => `answer ${++asked}` }), limit)
    const slow = new Pending<string>()
    const ended = pipeline.execute(slow.run)
    await clock.advance(100)
    await expect(ended).resolves.toBe('answer 1')
    slow.reject(new Error('late'))
    await settled()
    expect(asked).toBe(1)
  })

  it('answers for an open circuit, and not for options that are wrong', async () => {
    const breaker = breakerOf(new VirtualClock(), { minimumCalls: 1 })
    const pipeline = compose(fallback({ name: 'rates', fallback: 'a default' }), breaker)
    await breaker.execute(down).catch(ignore)
    await expect(pipeline.execute(up)).resolves.toBe('a default')
    const wrong = new OptionError('x', 'x')
    await expect(pipeline.execute(up, { deadline: 5 } as never)).rejects.toBeInstanceOf(OptionError)
    const policy = fallback({ name: 'rates', fallback: 'a default' })
    await expect(policy.execute(() => Promise.reject(wrong))).rejects.toBe(wrong)
  })

  it('replaces only what it is told to', async () => {
    const policy = fallback({
      name: 'rates',
      fallback: 0,
      shouldHandle: (error) => (error as Error).message !== 'down',
    })
    await expect(policy.execute(down)).rejects.toThrow('down')
    await expect(policy.execute(() => Promise.reject(new Error('else')))).resolves.toBe(0)
  })

  it('takes another replacement from the next call on', async () => {
    const policy = fallback({ name: 'rates', fallback: 1 })
    policy.reconfigure({ fallback: 2 })
    await expect(policy.execute(down)).resolves.toBe(2)
  })

  it('says which option does not fit', () => {
    expect(() => fallback({ name: 'x' } as never)).toThrow('fallback must be given')
    expect(() => fallback({ name: 'x', fallback: [] })).toThrow('must not be an empty list')
    expect(() => fallback({ name: '', fallback: 1 })).toThrow('name must be a string')
    expect(() => fallback({ name: 'x', fallback: 1, value: 1 } as never)).toThrow('there is no option value')
  })
})
