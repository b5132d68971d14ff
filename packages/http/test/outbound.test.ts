import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Clock, circuitBreaker, type ExecuteOptions, TimeoutError } from '@tidegate/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createOutbound, lifeOf, RequestLife } from '../src/index'

/** A policy that shows what it was called with. */
class Witness {
  readonly name = 'witness'
  options: ExecuteOptions | undefined
  settle: (() => void) | undefined

  async execute<T>(_: unknown, options?: ExecuteOptions): Promise<T> {
    this.options = options
    if (this.settle === undefined) return undefined as T
    await new Promise<void>((resolve) => {
      this.settle = resolve
    })
    return undefined as T
  }
}

class HandClock implements Clock {
  time = 1_000
  now = () => this.time
  setTimeout = () => () => {}
}

/** A request that waits for its answer, as the server sees it. */
async function request() {
  const server = createServer()
  const asked = once(server, 'request')
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = get({ port: (server.address() as AddressInfo).port, agent: false }).on('error', () => {})
  onTestFinished(() => {
    client.destroy()
    server.close()
  })
  const [req, res] = await asked
  return { req, res, client, clock: new HandClock() }
}

describe('a policy bound to a request', () => {
  it('hands over what it is given, and keeps name and state', async () => {
    const { req, res } = await request()
    const witness = Object.assign(new Witness(), { state: 'closed' as const })
    const outbound = createOutbound({ payments: witness })(lifeOf(req, res))
    await outbound.payments.execute(() => 1, { key: 'k', metadata: 7 })
    expect(witness.options).toEqual({
      key: 'k',
      metadata: 7,
      signal: lifeOf(req, res).signal,
      deadlineMs: undefined,
    })
    expect([outbound.payments.name, outbound.payments.state]).toEqual(['witness', 'closed'])
  })

  it('is found under its name and no other', async () => {
    const { req, res } = await request()
    const outbound = createOutbound({ payments: new Witness() })(lifeOf(req, res))
    expect('constructor' in outbound || 'toString' in outbound).toBe(false)
  })

  it('gives each call what is left of the time since the request began', async () => {
    const { req, res, clock } = await request()
    const witness = new Witness()
    const { payments } = createOutbound(
      { payments: witness },
      { deadlineMs: 100 },
    )(new RequestLife(req, res, clock))
    for (const [passed, left] of [
      [0, 100],
      [30.5, 69],
      [60, 9],
      [9.5, 0],
      [1_000, 0],
    ] as const) {
      clock.time += passed
      await payments.execute(() => 1)
      expect(witness.options?.deadlineMs).toBe(left)
    }
  })

  it('takes the earlier of two deadlines', async () => {
    const { req, res, clock } = await request()
    const witness = new Witness()
    const { payments } = createOutbound(
      { payments: witness },
      { deadlineMs: 100 },
    )(new RequestLife(req, res, clock))
    for (const [own, taken] of [
      [20, 20],
      [500, 100],
      [0, 0],
      [Number.NaN, Number.NaN],
      ['5', '5'],
    ] as const) {
      await payments.execute(() => 1, { deadlineMs: own as number })
      expect(witness.options?.deadlineMs).toBe(taken)
    }
    const { free } = createOutbound({ free: witness })(new RequestLife(req, res, clock))
    await free.execute(() => 1, { deadlineMs: 7 })
    expect(witness.options?.deadlineMs).toBe(7)
  })

  it('starts nothing when no time is left', async () => {
    const { req, res, clock } = await request()
    const payments = circuitBreaker({ name: 'payments', consecutiveFailures: 1 })
    const bound = createOutbound({ payments }, { deadlineMs: 100 })(new RequestLife(req, res, clock)).payments
    expect(await bound.execute(() => 'ok')).toBe('ok')
    clock.time += 100
    let isStarted = false
    const late = bound.execute(() => {
      isStarted = true
    })
    await expect(late).rejects.toBeInstanceOf(TimeoutError)
    expect(isStarted).toBe(false)
    expect(payments.state).toBe('closed')
  })

  it('follows the caller as well as the client, and neither once the call is over', async () => {
    const { req, res, client } = await request()
    const witness = new Witness()
    witness.settle = () => {}
    const { payments } = createOutbound({ payments: witness })(lifeOf(req, res))
    const lasting = listened(new AbortController())
    const calls: Promise<unknown>[] = []
    const signals: AbortSignal[] = []
    const settles: (() => void)[] = []
    for (let call = 0; call < 3; call++) {
      calls.push(payments.execute(() => 1, { signal: lasting.signal }))
      signals.push(witness.options?.signal as AbortSignal)
      settles.push(witness.settle as () => void)
    }
    expect(lasting.listeners).toBe(1)
    settles[0]?.()
    await calls[0]
    expect(lasting.listeners).toBe(1)
    settles[1]?.()
    await calls[1]
    settles[2]?.()
    await calls[2]
    expect(lasting.listeners).toBe(0)

    const own = new AbortController()
    void payments.execute(() => 1, { signal: own.signal })
    const byCaller = witness.options?.signal
    void payments.execute(() => 1, { signal: lasting.signal })
    const byClient = witness.options?.signal
    own.abort('mine')
    expect([byCaller?.aborted, byCaller?.reason, byClient?.aborted]).toEqual([true, 'mine', false])
    client.destroy()
    await once(byClient as AbortSignal, 'abort')
    expect(byClient?.reason).toMatchObject({ name: 'AbortError', code: 'ABORT_ERR' })
    expect(signals.some((signal) => signal.aborted)).toBe(false)
  })

  it('starts nothing for a caller who has gone already, whose reason it keeps', async () => {
    const { req, res } = await request()
    const payments = circuitBreaker({ name: 'payments' })
    const bound = createOutbound({ payments })(lifeOf(req, res)).payments
    let isStarted = false
    const call = bound.execute(
      () => {
        isStarted = true
      },
      { signal: AbortSignal.abort('mine') },
    )
    await expect(call).rejects.toBe('mine')
    expect(isStarted).toBe(false)
  })
})

/** Counts the listeners on a signal. */
function listened(controller: AbortController) {
  const { signal } = controller
  const counted = { signal, listeners: 0 }
  const add = signal.addEventListener.bind(signal) as (...args: unknown[]) => void
  const remove = signal.removeEventListener.bind(signal) as (...args: unknown[]) => void
  signal.addEventListener = (...args: unknown[]) => {
    counted.listeners++
    add(...args)
  }
  signal.removeEventListener = (...args: unknown[]) => {
    counted.listeners--
    remove(...args)
  }
  return counted
}
