import {
  CircuitIsolatedError,
  CircuitOpenError,
  type ErrorCode,
  TidegateError,
  TimeoutError,
} from '@tidegate/core'
import { describe, expect, it, vi } from 'vitest'
import { type ErrorHandler, type Handler, outbound, problems } from '../src/index'
import { type App, breaker, frameworks, open, type Request, serve } from './support'

const refusal = (code: ErrorCode, fields: object) =>
  Object.assign(new TidegateError(code, 'a secret'), fields)

const table = [
  ['CIRCUIT_OPEN', new CircuitOpenError('payments', 1_500), 503, '2'],
  ['CIRCUIT_OPEN, a probe being out', new CircuitOpenError('payments', undefined), 503, undefined],
  ['CIRCUIT_ISOLATED', new CircuitIsolatedError('payments'), 503, undefined],
  ['BULKHEAD_FULL', refusal('BULKHEAD_FULL', { retryAfterMs: 10 }), 503, '1'],
  [
    'RATE_LIMITED by a dependency',
    refusal('RATE_LIMITED', { scope: 'dependency', retryAfterMs: 1 }),
    503,
    '1',
  ],
  [
    'RATE_LIMITED by the client',
    refusal('RATE_LIMITED', { scope: 'client', retryAfterMs: 9_001 }),
    429,
    '10',
  ],
  ['TIMEOUT', new TimeoutError('a call', 100), 504, undefined],
] as const

describe.each(frameworks)('problems in %s', (_, framework) => {
  /** An application whose `/` does what is given, and whose own error handler, last, tells what reached it. */
  function failing(handler: Handler, options?: Parameters<typeof problems>[0]) {
    const app = framework.app()
    const passed: unknown[] = []
    app.get('/', handler)
    app.use(problems(options))
    const own: ErrorHandler = (error, _req, res, next) => {
      passed.push(error)
      if (res.headersSent) return next(error)
      res.statusCode = 418
      res.end('own')
    }
    app.use(own)
    return { app, passed }
  }

  const throwing = (error: unknown): Handler => {
    return () => {
      throw error
    }
  }

  describe.each(table)('of %s', (_name, error, status, retryAfter) => {
    it('answer in JSON', async () => {
      const { app, passed } = failing(throwing(error))
      const answer = await (await serve(app)).ask('/')
      expect(answer.status).toBe(status)
      expect(answer.headers['content-type']).toBe('application/problem+json')
      expect(answer.headers['cache-control']).toBe('no-store')
      expect(answer.headers['retry-after']).toBe(retryAfter)
      expect(JSON.parse(answer.body)).toEqual({
        type: 'about:blank',
        title: answer.message,
        status,
        code: error.code,
        ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }),
      })
      expect(passed).toEqual([])
    })

    it('answer in text', async () => {
      const answer = await (await serve(failing(throwing(error)).app)).ask('/', { accept: 'text/plain' })
      expect(answer.status).toBe(status)
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
      expect(answer.headers['retry-after']).toBe(retryAfter)
      expect(answer.body).toContain(`${answer.message} (${error.code}`)
    })

    it('answer a HEAD with the same headers and no body', async () => {
      const { ask } = await serve(failing(throwing(error)).app)
      const { date: _got, ...expected } = (await ask('/')).headers
      const answer = await ask('/', { method: 'HEAD' })
      expect(answer).toMatchObject({ status, body: '', headers: expected })
    })
  })

  it('catch what a bound call is refused with', async () => {
    const { payments } = breaker()
    await open(payments)
    const app = framework.app()
    app.use(outbound({ payments }))
    app.get(
      '/',
      framework.async((req) => req.outbound.payments?.execute(() => 1) ?? Promise.reject(new Error())),
    )
    app.use(problems())
    expect(await (await serve(app)).ask('/')).toMatchObject({ status: 503, headers: { 'retry-after': '2' } })
  })

  it('catch what an async handler throws', async () => {
    const handler = framework.async(async () => {
      await Promise.resolve()
      throw new TimeoutError('a call', 1)
    })
    expect((await (await serve(failing(handler).app)).ask('/')).status).toBe(504)
  })

  it('name the circuit where that is asked for', async () => {
    const { app } = failing(throwing(new CircuitOpenError('payments', 1)), { reveal: true })
    expect(JSON.parse((await (await serve(app)).ask('/')).body).circuit).toBe('payments')
  })

  it('take away what the handler said of the answer that it did not give, and leave the rest', async () => {
    const { app } = failing((_req, res) => {
      res.statusMessage = 'Splendid'
      res.setHeader('Content-Encoding', 'gzip')
      res.setHeader('Transfer-Encoding', 'chunked')
      res.setHeader('ETag', '"1"')
      res.setHeader('Cache-Control', 'public, max-age=60')
      res.setHeader('X-Request-Id', '7')
      throw new CircuitOpenError('payments', 1)
    })
    const { message, headers, body } = await (await serve(app)).ask('/')
    expect(message).toBe('Service Unavailable')
    expect(headers).toMatchObject({ 'x-request-id': '7', 'cache-control': 'no-store' })
    for (const name of ['content-encoding', 'transfer-encoding', 'etag'])
      expect(headers).not.toHaveProperty(name)
    expect(JSON.parse(body).code).toBe('CIRCUIT_OPEN')
  })

  it.each([
    ['a bug', new TypeError('x')],
    ['a wrapped policy error', new Error('x', { cause: new CircuitOpenError('payments', 1) })],
    ['a string', 'CIRCUIT_OPEN'],
  ])('pass %s on untouched, to the handler of the application', async (_name, error) => {
    const { app, passed } = failing(throwing(error))
    expect(await (await serve(app)).ask('/')).toMatchObject({ status: 418, body: 'own' })
    expect(passed).toHaveLength(1)
    expect(passed[0]).toBe(error)
  })

  it('leave it to Express to break off an answer that has begun', async () => {
    const error = new CircuitOpenError('payments', 1)
    const { app, passed } = failing((_req, res, next) => {
      res.write('half of')
      next(error)
    })
    await expect((await serve(app)).ask('/')).rejects.toThrow()
    expect(passed).toEqual([error])
  })

  describe('when the client is gone', () => {
    /** The request's error arrives after its client left. */
    async function leave(errorOf: (req: Request) => unknown) {
      const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
      const { app, passed, settled } = leaving(errorOf)
      const { ask, raw, sockets } = await serve(app)
      const client = await raw('GET / HTTP/1.1\r\nHost: test\r\n\r\n')
      await vi.waitFor(() => expect(sockets[0]?.bytesRead).toBeGreaterThan(0))
      client.destroy()
      await settled
      // What finalhandler logs, it logs in the next turn.
      await new Promise((resolve) => setImmediate(resolve))
      expect((await ask('/alive')).status).toBe(200)
      const lines = logged.mock.calls.length
      logged.mockRestore()
      return { lines, passed }
    }

    function leaving(errorOf: (req: Request) => unknown) {
      let done = () => {}
      const settled = new Promise<void>((resolve) => {
        done = resolve
      })
      const passed: unknown[] = []
      const app: App = framework.app()
      app.set('env', 'development')
      app.use(outbound({ payments: breaker().payments }))
      app.get('/alive', (_req, res) => res.end())
      app.get('/', (req, res, next) => {
        res.on('close', () => {
          next(errorOf(req as Request))
          done()
        })
      })
      app.use(problems())
      const witness: ErrorHandler = (error, _req, _res, next) => {
        passed.push(error)
        next(error)
      }
      app.use(witness)
      return { app, passed, settled }
    }

    it.each([
      ['a policy error', new CircuitOpenError('payments', 1)],
      ['an abort', new DOMException('x', 'AbortError')],
    ])('end quietly with %s', async (_name, error) => {
      expect(await leave(() => error)).toEqual({ lines: 0, passed: [] })
    })

    it('still pass a bug on', async () => {
      const bug = new TypeError('x')
      const { lines, passed } = await leave(() => bug)
      expect(passed).toEqual([bug])
      expect(lines).toBe(1)
    })
  })
})

describe('problems', () => {
  it('have the four parameters by which Express tells an error handler', () =>
    expect(problems()).toHaveLength(4))

  it('refuse an option that there is not', () => {
    expect(() => problems({ revael: true } as never)).toThrow(
      'problems: there is no option revael; there are reveal',
    )
  })
})
