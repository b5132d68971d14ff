import { describe, expect, it } from 'vitest'
import { circuitGuard } from '../src/index'
import { breaker, frameworks, open, serve } from './support'

describe.each(frameworks)('circuitGuard in %s', (_, framework) => {
  function guarded(options?: Parameters<typeof circuitGuard>[1]) {
    const { payments, clock } = breaker()
    const app = framework.app()
    let handled = 0
    app.get('/', circuitGuard(payments, options), (_req, res) => {
      handled++
      res.end('handled')
    })
    return { payments, clock, app, handled: () => handled }
  }

  it('lets requests through while the circuit is closed', async () => {
    const { ask } = await serve(guarded().app)
    expect(await ask('/')).toMatchObject({ status: 200, body: 'handled' })
  })

  it('answers 503 and Retry-After while it is open, before any work', async () => {
    const { payments, app, handled } = guarded()
    await open(payments)
    const { ask } = await serve(app)
    const { status, message, headers, body } = await ask('/')
    expect({ status, message }).toEqual({ status: 503, message: 'Service Unavailable' })
    expect(headers).toMatchObject({
      'content-type': 'application/problem+json',
      'retry-after': '2',
      'cache-control': 'no-store',
    })
    expect(JSON.parse(body)).toEqual({
      type: 'about:blank',
      title: 'Service Unavailable',
      status: 503,
      code: 'CIRCUIT_OPEN',
      retryAfter: 2,
    })
    expect(handled()).toBe(0)
  })

  it('answers in text where that is preferred, and names the circuit where that is asked for', async () => {
    const { payments, app } = guarded({ reveal: true })
    await open(payments)
    const { ask } = await serve(app)
    const text = await ask('/', { accept: 'text/plain' })
    expect(text.body).toBe('Service Unavailable (CIRCUIT_OPEN, retry after 2 s)\n')
    expect(JSON.parse((await ask('/')).body).circuit).toBe('payments')
  })

  it('lets requests through once probing may start', async () => {
    const { payments, clock, app, handled } = guarded()
    await open(payments)
    const { ask } = await serve(app)
    clock.advance(1_499)
    expect((await ask('/')).headers['retry-after']).toBe('1')
    clock.advance(1)
    expect((await ask('/')).status).toBe(200)
    expect((await ask('/')).status).toBe(200)
    expect(handled()).toBe(2)
    expect(payments.state).toBe('open')
  })

  it('answers 503 without Retry-After while a probe is out: nobody knows for how long', async () => {
    const { payments, clock, app } = guarded()
    await open(payments)
    clock.advance(1_500)
    const { ask } = await serve(app)
    let end: (value: string) => void = () => {}
    const probe = payments.execute(() => new Promise<string>((resolve) => (end = resolve)))
    const rejected = await ask('/')
    expect(rejected.status).toBe(503)
    expect(rejected.headers).not.toHaveProperty('retry-after')
    end('fine')
    await probe
    expect((await ask('/')).status).toBe(200)
  })

  it('answers 503 while the circuit is isolated', async () => {
    const { payments, app, handled } = guarded()
    await payments.isolate()
    const { ask } = await serve(app)
    expect(JSON.parse((await ask('/')).body).code).toBe('CIRCUIT_ISOLATED')
    expect(handled()).toBe(0)
  })
})

describe('circuitGuard', () => {
  it('is not built without a circuit breaker', () => {
    expect(() => circuitGuard(undefined as never)).toThrow(
      'circuitGuard: policy must be a circuit breaker, got undefined',
    )
  })
})
