import { once } from 'node:events'
import { Agent, get } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { type Handler, outbound, problems } from '../src/index'
import { type AsyncHandler, breaker, frameworks, GET, gate, open, serve } from './support'

const NO_EVIDENCE = { state: 'closed', successes: 0, failures: 0 }

describe.each(frameworks)('outbound in %s', (_, framework) => {
  /** An application with one handler; what its calls are told is collected. */
  function calling(handler: AsyncHandler, options?: Parameters<typeof outbound>[1], of = breaker()) {
    const app = framework.app()
    app.use(outbound({ payments: of.payments }, options))
    app.get('/', framework.async(handler))
    app.post('/', framework.async(handler))
    app.use(problems())
    return { app, ...of }
  }

  /** Calls that hang until their signal aborts: each is told to `started`, and settles into `ended`. */
  function hanging() {
    const started: AbortSignal[] = []
    const ended: unknown[] = []
    const handler: AsyncHandler = async (req, res) => {
      try {
        await req.outbound.payments?.execute(({ signal }) => {
          started.push(signal)
          return new Promise(() => {})
        })
        res.end()
      } catch (error) {
        ended.push(error)
        throw error
      }
    }
    return { started, ended, handler }
  }

  it('runs the calls of a request, and aborts nothing when it ends', async () => {
    let signal: AbortSignal | undefined
    const { app, payments } = calling(async (req, res) => {
      const answer = await req.outbound.payments?.execute((context) => {
        signal = context.signal
        return 'paid'
      })
      res.end(answer)
    })
    const { ask, sockets } = await serve(app)
    expect(await ask('/')).toMatchObject({ status: 200, body: 'paid' })
    if (sockets[0]?.destroyed === false) await once(sockets[0], 'close')
    expect(signal?.aborted).toBe(false)
    expect(payments.stats()).toMatchObject({ state: 'closed', successes: 1, failures: 0 })
  })

  it('does not abort a call that goes on after the answer is out', async () => {
    const later = gate<string>()
    let call: Promise<unknown> | undefined
    let signal: AbortSignal | undefined
    const { app } = calling(async (req, res) => {
      call = req.outbound.payments?.execute((context) => {
        signal = context.signal
        return later.promise
      })
      res.end()
    })
    const { ask, sockets } = await serve(app)
    await ask('/')
    if (sockets[0]?.destroyed === false) await once(sockets[0], 'close')
    later.open('written')
    expect(await call).toBe('written')
    expect(signal?.aborted).toBe(false)
  })

  it('aborts a call at once when the client goes away, and counts nothing', async () => {
    const { started, ended, handler } = hanging()
    const { app, payments } = calling(handler)
    const { raw } = await serve(app)
    const client = await raw(GET)
    await vi.waitFor(() => expect(started).toHaveLength(1))
    const aborted = once(started[0] as AbortSignal, 'abort')
    client.destroy()
    await aborted
    await vi.waitFor(() => expect(ended).toHaveLength(1))
    expect(ended[0]).toBe(started[0]?.reason)
    expect(ended[0]).toMatchObject({ name: 'AbortError' })
    await payments.flush()
    expect(payments.stats()).toMatchObject(NO_EVIDENCE)
  })

  it('starts nothing for a client who has gone before', async () => {
    const left = gate()
    let isStarted = false
    const { app, payments } = calling(async (req, res) => {
      await once(res, 'close')
      const call = req.outbound.payments?.execute(() => {
        isStarted = true
      })
      await expect(call).rejects.toMatchObject({ name: 'AbortError' })
      left.open()
    })
    const { raw, sockets } = await serve(app)
    const client = await raw(GET)
    await vi.waitFor(() => expect(sockets[0]?.bytesRead).toBeGreaterThan(0))
    client.destroy()
    await left.promise
    expect(isStarted).toBe(false)
    expect(payments.stats()).toMatchObject(NO_EVIDENCE)
  })

  it('gives the permit of a probe back at once when its client leaves, and the next caller probes', async () => {
    const { started, handler } = hanging()
    const { app, payments, clock } = calling(handler)
    await open(payments)
    clock.advance(1_500)
    const { raw } = await serve(app)
    const client = await raw(GET)
    await vi.waitFor(() => expect(started).toHaveLength(1))
    expect(payments.state).toBe('half-open')
    expect(payments.rejection()).toBeDefined()
    const aborted = once(started[0] as AbortSignal, 'abort')
    client.destroy()
    await aborted
    await vi.waitFor(() => expect(payments.rejection()).toBeUndefined())
    expect(payments.state).toBe('half-open')
    expect(await payments.execute(() => 'fine')).toBe('fine')
    expect(payments.state).toBe('closed')
  })

  it('aborts the calls of all requests that were pipelined on a socket that dies', async () => {
    const { started, ended, handler } = hanging()
    const { app, payments } = calling(handler)
    const { raw, sockets } = await serve(app)
    const warned = vi.fn()
    process.on('warning', warned)
    const client = await raw(GET.repeat(15))
    await vi.waitFor(() => expect(started).toHaveLength(15))
    client.destroy()
    await vi.waitFor(() => expect(ended).toHaveLength(15))
    process.off('warning', warned)
    expect(started.every((signal) => signal.aborted)).toBe(true)
    expect(payments.stats()).toMatchObject(NO_EVIDENCE)
    expect(warned).not.toHaveBeenCalled()
    expect(closeListeners(sockets[0])).toEqual([])
  })

  it.each([
    ['read', true],
    ['not read', false],
  ])('does not abort a POST whose body is %s', async (_name, isRead) => {
    const { app } = calling(async (req, res) => {
      if (isRead) for await (const _chunk of req);
      // Once a body is read, Node.js closes the request, though not the exchange.
      const closed = isRead ? (req.closed ? Promise.resolve() : once(req, 'close')) : Promise.resolve()
      await closed
      const aborted = await req.outbound.payments?.execute(async ({ signal }) => {
        await new Promise((resolve) => setImmediate(resolve))
        return signal.aborted
      })
      res.end(String(aborted))
    })
    const { ask } = await serve(app)
    expect(await ask('/', { method: 'POST', body: 'x'.repeat(100) })).toMatchObject({
      status: 200,
      body: 'false',
    })
  })

  it('leaves no listener on a socket that 1,000 requests went through', async () => {
    const listeners: number[] = []
    let plain = 0
    const { app } = calling(async (req, res) => {
      plain ||= req.socket.listenerCount('close')
      await req.outbound.payments?.execute(({ signal }) => signal.aborted)
      listeners.push(req.socket.listenerCount('close'))
      res.end('x')
    })
    const { port, sockets } = await serve(app)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let count = 0; count < 1_000; count++) {
      const [answer] = await once(get({ port, agent }), 'response')
      await once(answer.resume(), 'end')
    }
    expect(sockets).toHaveLength(1)
    expect([...new Set(listeners)]).toEqual([plain + 1])
    await vi.waitFor(() => expect(closeListeners(sockets[0])).toEqual([]))
    agent.destroy()
  })

  it('listens to nothing for a request that makes no call', async () => {
    const counts: number[][] = []
    const app = framework.app()
    const count = (req: { socket: Socket }, res: { listenerCount(name: string): number }) =>
      counts.push([req.socket.listenerCount('close'), res.listenerCount('close')])
    const first: Handler = (req, res, next) => {
      count(req, res)
      next()
    }
    app.use(first)
    app.use(outbound({ payments: breaker().payments }, { deadlineMs: 100 }))
    app.get('/', (req, res) => {
      count(req, res)
      res.end()
    })
    await (await serve(app)).ask('/')
    expect(counts[1]).toEqual(counts[0])
  })

  it('answers 504 when the deadline of the request is over, and starts nothing after it', async () => {
    // The breaker's own clock, the system's: the deadline is the request's.
    const { hang, isStarted, handler } = twice()
    const { app } = calling(
      handler,
      { deadlineMs: 30 },
      breaker({ clock: undefined, consecutiveFailures: 5 }),
    )
    const { ask } = await serve(app)
    const answer = await ask('/')
    expect(answer.status).toBe(504)
    expect(JSON.parse(answer.body).code).toBe('TIMEOUT')
    expect(hang.aborted).toMatchObject({ code: 'TIMEOUT' })
    expect(isStarted()).toBe(false)
  })

  /** A call that takes all the time there is, and one after it. */
  function twice() {
    const hang: { aborted?: unknown } = {}
    let isStarted = false
    const handler: AsyncHandler = async (req) => {
      const began = performance.now()
      await req.outbound.payments
        ?.execute(({ signal }) => {
          signal.addEventListener('abort', () => {
            hang.aborted = signal.reason
          })
          return new Promise(() => {})
        })
        .catch(() => {})
      // Timers may be a millisecond early.
      while (performance.now() - began < 31);
      await req.outbound.payments?.execute(() => {
        isStarted = true
      })
    }
    return { hang, isStarted: () => isStarted, handler }
  }

  it('adds what it is given to what was there', async () => {
    const ledger = breaker({ name: 'ledger' }).payments
    const { payments } = breaker()
    const app = framework.app()
    app.use(outbound({ payments }))
    app.use(outbound({ ledger }))
    app.get(
      '/',
      framework.async(async (req, res) => {
        const { outbound: bound } = req
        res.end(
          `${Object.keys(bound)} ${await bound.payments?.execute(() => 1)}${await bound.ledger?.execute(() => 2)}`,
        )
      }),
    )
    expect((await (await serve(app)).ask('/')).body).toBe('payments,ledger 12')
  })
})

describe('outbound', () => {
  it('is not built with a policy that is none', () => {
    expect(() => outbound({ payments: undefined as never })).toThrow(
      'outbound: payments must be a policy, got undefined',
    )
  })
})

/** Those of a socket that are not of Node.js itself. */
function closeListeners(socket: Socket | undefined): string[] {
  const names = (socket?.listeners('close') ?? []).map(({ name }) => name.replace('bound ', ''))
  return names.filter((name) => name !== 'socketOnClose' && name !== 'onServerResponseClose')
}
