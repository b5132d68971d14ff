import { type CallContext, compose, type Policy, TimeoutError } from '@tidegate/core'
import { describe, expect, it } from 'vitest'
import type { Scope } from '../src/call/scope'
import { type Clock, systemClock } from '../src/clock'
import { Layer, type Next } from '../src/policy'
import { breakerOf, down, ignore, up } from './support/subject'
import { VirtualClock } from './support/virtual-clock'

/** Says when a call comes in and goes out. */
class Trace extends Layer<object> {
  readonly kind = 'trace'
  readonly name: string
  readonly #said: string[]

  constructor(name: string, said: string[]) {
    super()
    this.name = name
    this.#said = said
  }

  get clock(): Clock {
    return systemClock
  }

  protected get eventNames(): object {
    return {}
  }

  async run<T>(next: Next<T>, scope: Scope): Promise<T> {
    this.#said.push(`into ${this.name}`)
    try {
      return await next(scope)
    } finally {
      this.#said.push(`out of ${this.name}`)
    }
  }

  stats(): object {
    return { said: this.#said.length }
  }
}

describe('policies, composed', () => {
  it('run around one another, the first the outermost', async () => {
    const said: string[] = []
    const [a, b, c] = ['a', 'b', 'c'].map((name) => new Trace(name, said)) as [Trace, Trace, Trace]
    await expect(compose(a, compose(b, c)).execute(up)).resolves.toBe('up')
    expect(said).toEqual(['into a', 'into b', 'into c', 'out of c', 'out of b', 'out of a'])
  })

  it('hand one context through to the function', async () => {
    const clock = new VirtualClock()
    const breaker = breakerOf(clock)
    const seen: CallContext[] = []
    const pipeline = compose(breaker, new Trace('inner', []))
    const run = async (context: CallContext): Promise<void> => void seen.push(context)
    await pipeline.execute(run, { metadata: 7, correlationId: 'order-9', deadlineMs: 300 })
    await pipeline.execute(run)
    const [first, second] = seen as [CallContext, CallContext]
    expect(first).toMatchObject({ metadata: 7, correlationId: 'order-9', remainingMs: 300, attempt: 1 })
    expect(first.fence).toBe(breaker.stats().fence)
    expect(second.remainingMs).toBe(Number.POSITIVE_INFINITY)
    expect(second.correlationId).toBe(second.correlationId)
    expect(second.correlationId).not.toBe(first.correlationId)
  })

  it('keep the types of results, and of wrapped functions their arguments and their this', async () => {
    const pipeline: Policy = compose(new Trace('a', []), new Trace('b', []))
    const length: number = await pipeline.execute(async () => 'four'.length)
    expect(length).toBe(4)
    const till = {
      owed: 3,
      pay: pipeline.wrap(async function (this: { owed: number }, sum: number): Promise<number> {
        this.owed -= sum
        return this.owed
      }),
    }
    const left: number = await till.pay(1)
    expect(left).toBe(2)
  })

  it('end for a caller who goes away, which is no failure of anybody', async () => {
    const clock = new VirtualClock()
    const [outer, inner] = [breakerOf(clock, { name: 'outer' }), breakerOf(clock, { name: 'inner' })]
    const pipeline = compose(outer, inner)
    for (let call = 0; call < 6; call++) {
      const caller = new AbortController()
      const gone = pipeline.execute(
        ({ signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason))
          }),
        { signal: caller.signal },
      )
      caller.abort(new DOMException('the caller left', 'AbortError'))
      await expect(gone).rejects.toThrow('the caller left')
    }
    for (const breaker of [outer, inner])
      expect(breaker.stats()).toMatchObject({ state: 'closed', failures: 0 })
  })

  it('end when the deadline passes, whether or not the function listens, and leave no timer', async () => {
    const clock = new VirtualClock()
    const pipeline = compose(breakerOf(clock), new Trace('inner', []))
    const late = pipeline
      .execute(() => new Promise(ignore), { deadlineMs: 100 })
      .catch((error: unknown) => error)
    await clock.advance(100)
    expect(await late).toBeInstanceOf(TimeoutError)
    await expect(pipeline.execute(up, { deadlineMs: 0 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    await pipeline.execute(up, { deadlineMs: 1_000 })
    await clock.advance(200)
    expect(clock.timers).toBe(0)
  })

  it('are one to a breaker around them: what an inner one refuses is no failure', async () => {
    const clock = new VirtualClock()
    const [outer, inner] = [
      breakerOf(clock, { name: 'outer' }),
      breakerOf(clock, { name: 'inner', minimumCalls: 2 }),
    ]
    const pipeline = compose(outer, inner)
    for (let call = 0; call < 12; call++) await pipeline.execute(down).catch(ignore)
    expect(inner.state).toBe('open')
    expect(outer.stats()).toMatchObject({ state: 'closed', failures: 2 })
  })

  it('say what they are', () => {
    const pipeline = compose(breakerOf(new VirtualClock()), new Trace('inner', []))
    expect(pipeline.describe()).toBe('circuitBreaker "payments"\ntrace "inner"')
    expect(Object.keys(pipeline.stats())).toEqual(['circuitBreaker payments', 'trace inner'])
  })

  it('are refused where they make no pipeline', () => {
    const breaker = breakerOf(new VirtualClock())
    expect(() => compose(...([] as unknown as [Policy]))).toThrow('there must be a policy')
    expect(() => compose(breaker, 5 as never)).toThrow('argument 2 must be a policy')
    expect(() => compose(breaker, new Trace('between', []), breaker)).toThrow('"payments" is there twice')
    expect(() => compose(breaker).on('open' as never, ignore)).toThrow('there is no event open')
  })
})
