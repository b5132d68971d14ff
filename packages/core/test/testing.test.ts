import { circuitBreaker, memoryStore } from '@tidegate/core'
import { ScriptedDependency, settled, VirtualClock, WaywardStore } from '@tidegate/core/testing'
import { describe, expect, it } from 'vitest'

const terms = {
  instance: 'a-test',
  nonce: 'once',
  window: { kind: 'time', ms: 10_000 },
  cooldownMs: 1_000,
  leaseMs: 500,
} as const

describe('a scripted dependency', () => {
  it('does what its script says, and what the last line says ever after', async () => {
    const clock = new VirtualClock()
    const down = new Error('down')
    const { call } = new ScriptedDependency<string>(clock, [{ error: down }, { answer: 'paid' }])
    const context = new AbortController()
    await expect(call(context)).rejects.toBe(down)
    await expect(call(context)).resolves.toBe('paid')
    await expect(call(context)).resolves.toBe('paid')
  })

  it('takes the time that it is told to take', async () => {
    const clock = new VirtualClock()
    const dependency = new ScriptedDependency(clock, [{ answer: 'paid', afterMs: 300 }])
    const answers: string[] = []
    void dependency.call(new AbortController()).then((answer) => answers.push(answer))
    await clock.advance(299)
    expect([answers, dependency.pending]).toEqual([[], 1])
    await clock.advance(1)
    expect([answers, dependency.pending]).toEqual([['paid'], 0])
  })

  it('hangs until the call is aborted, or for good', async () => {
    const dependency = new ScriptedDependency(new VirtualClock(), ['hang', 'ignore'])
    const controllers = [new AbortController(), new AbortController()]
    const ends: unknown[] = []
    for (const controller of controllers) dependency.call(controller).catch((error) => ends.push(error))
    for (const controller of controllers) controller.abort('enough')
    await settled()
    expect([ends, dependency.pending, dependency.calls]).toEqual([['enough'], 1, 2])
  })

  it('opens a breaker and lets it close', async () => {
    const clock = new VirtualClock()
    const breaker = circuitBreaker({
      name: 'payments',
      consecutiveFailures: 2,
      cooldownMs: 1_000,
      cooldownJitter: 0,
      clock,
    })
    const { call } = new ScriptedDependency(clock, [{ error: 1 }, { error: 2 }, { answer: 'paid' }])
    await expect(breaker.execute(call)).rejects.toBe(1)
    await expect(breaker.execute(call)).rejects.toBe(2)
    expect(breaker.state).toBe('open')
    await clock.advance(1_000)
    await expect(breaker.execute(call)).resolves.toBe('paid')
    expect(breaker.state).toBe('closed')
  })
})

describe('a wayward store', () => {
  it('answers so much later', async () => {
    const clock = new VirtualClock()
    const store = new WaywardStore(memoryStore({ clock }))
    store.delay(clock, 200)
    let isAnswered = false
    void Promise.resolve(store.circuits.readState('payments', terms)).then(() => {
      isAnswered = true
    })
    await clock.advance(199)
    expect(isAnswered).toBe(false)
    await clock.advance(1)
    expect(isAnswered).toBe(true)
  })

  it('executes twice what is repeated, and not at all what is met with silence', async () => {
    const inner = memoryStore()
    const store = new WaywardStore(inner)
    const { fence } = await store.circuits.readState('payments', terms)
    store.fail('silence', 'compareAndSet')
    void store.circuits.compareAndSet('payments', 'closed', 'isolated', fence, terms)
    await settled()
    expect(await inner.circuits.readState('payments', terms)).toMatchObject({ state: 'closed' })
    store.fail('repeat', 'compareAndSet')
    // The second delivery is answered as the first was.
    const answer = await store.circuits.compareAndSet('payments', 'closed', 'isolated', fence, terms)
    expect(answer).toMatchObject({ ok: true, snapshot: { state: 'isolated' } })
    expect(store.count('compareAndSet')).toBe(2)
  })

  it('executes what it loses the answer to', async () => {
    const inner = memoryStore()
    const store = new WaywardStore(inner)
    const { fence } = await store.circuits.readState('payments', terms)
    store.fail('lose-answer', 'compareAndSet')
    void store.circuits.compareAndSet('payments', 'closed', 'isolated', fence, terms)
    await settled()
    expect(await inner.circuits.readState('payments', terms)).toMatchObject({ state: 'isolated' })
  })
})
