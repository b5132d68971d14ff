import {
  CircuitIsolatedError,
  CircuitOpenError,
  type ErrorCode,
  OptionError,
  StoreError,
  TidegateError,
  TimeoutError,
} from '@tidegate/core'
import { describe, expect, it } from 'vitest'
import { ClientGoneError, createProblems, type ErrorSituation, type ErrorVerdict } from '../src/index'

const HERE: ErrorSituation = { accept: undefined, isClientGone: false, isHeadSent: false }
const judge = createProblems()

function refusal(code: ErrorCode, fields: object = {}): TidegateError {
  return Object.assign(new TidegateError(code, 'a secret of ours'), fields)
}

function answerOf(verdict: ErrorVerdict) {
  if (verdict.go !== 'answer') throw new Error(`the verdict is ${verdict.go}`)
  const { status, headers, body } = verdict.answer
  return { status, headers, body, json: () => JSON.parse(body) }
}

describe('the problem of an error', () => {
  it.each([
    ['CIRCUIT_OPEN', new CircuitOpenError('payments', 1_500), 503, 'Service Unavailable', 2],
    [
      'CIRCUIT_OPEN, a probe being out',
      new CircuitOpenError('payments', undefined),
      503,
      'Service Unavailable',
    ],
    ['CIRCUIT_ISOLATED', new CircuitIsolatedError('payments'), 503, 'Service Unavailable'],
    ['BULKHEAD_FULL', refusal('BULKHEAD_FULL', { retryAfterMs: 1 }), 503, 'Service Unavailable', 1],
    [
      'RATE_LIMITED by a dependency',
      refusal('RATE_LIMITED', { scope: 'dependency', retryAfterMs: 60_000 }),
      503,
      'Service Unavailable',
      60,
    ],
    [
      'RATE_LIMITED by the client',
      refusal('RATE_LIMITED', { scope: 'client', retryAfterMs: 59_001 }),
      429,
      'Too Many Requests',
      60,
    ],
    ['TIMEOUT', new TimeoutError('a call', 100), 504, 'Gateway Timeout'],
  ])(
    'is, for %s, its status, its headers and a body of RFC 9457',
    (_, error, status, title, retryAfter?: number) => {
      const answer = answerOf(judge(error, HERE))
      expect(answer.status).toBe(status)
      expect(answer.json()).toEqual({
        type: 'about:blank',
        title,
        status,
        code: error.code,
        ...(retryAfter !== undefined && { retryAfter }),
      })
      expect(answer.headers).toEqual({
        'Content-Type': 'application/problem+json',
        'Content-Length': String(answer.body.length),
        'Cache-Control': 'no-store',
        ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
      })
    },
  )

  it('is text for a client that prefers it', () => {
    const { headers, body } = answerOf(
      judge(new CircuitOpenError('payments', 1), { ...HERE, accept: 'text/plain' }),
    )
    expect(body).toBe('Service Unavailable (CIRCUIT_OPEN, retry after 1 s)\n')
    expect(headers).toMatchObject({ 'Content-Type': 'text/plain; charset=utf-8', 'Retry-After': '1' })
    const unknown = answerOf(judge(new CircuitIsolatedError('payments'), { ...HERE, accept: 'text/*' }))
    expect(unknown.body).toBe('Service Unavailable (CIRCUIT_ISOLATED)\n')
  })

  it.each([
    [0, '1'],
    [-5, '1'],
    [1, '1'],
    [1_000, '1'],
    [1_000.5, '2'],
    [1e300, '2147483647'],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    ['7', undefined],
  ])('says of %s ms that the client may return after %s s', (retryAfterMs, seconds) => {
    const answer = answerOf(judge(refusal('BULKHEAD_FULL', { retryAfterMs }), HERE))
    expect(answer.headers['Retry-After']).toBe(seconds)
    expect(answer.json().retryAfter).toBe(seconds === undefined ? undefined : Number(seconds))
  })

  it.each(['application/json', 'text/plain'])(
    'tells in %s nothing of the message or of the dependency',
    (accept) => {
      for (const error of [
        new CircuitOpenError('payments', 1),
        refusal('BULKHEAD_FULL'),
        new TimeoutError('pay', 9),
      ]) {
        const { headers, body } = answerOf(judge(error, { ...HERE, accept }))
        expect(JSON.stringify(headers) + body).not.toMatch(/pay|secret/)
      }
    },
  )

  it('names the circuit where that was asked for', () => {
    const open = answerOf(createProblems({ reveal: true })(new CircuitOpenError('zahlungen-ü', 1), HERE))
    expect(open.json().circuit).toBe('zahlungen-ü')
    expect(open.headers['Content-Length']).toBe(String(Buffer.byteLength(open.body)))
    expect(answerOf(createProblems({ reveal: true })(refusal('TIMEOUT'), HERE)).json()).not.toHaveProperty(
      'circuit',
    )
  })

  it('is known for an error of another copy of core', () => {
    const other = Object.assign(new Error(), {
      '@tidegate/error': true,
      code: 'CIRCUIT_OPEN',
      retryAfterMs: 5_000,
    })
    expect(answerOf(judge(other, HERE)).headers['Retry-After']).toBe('5')
  })

  it.each([
    ['a bug', new TypeError('x')],
    ['an error with a code like ours', Object.assign(new Error(), { code: 'CIRCUIT_OPEN' })],
    ['a policy error that somebody wrapped', new Error('x', { cause: new CircuitOpenError('payments', 1) })],
    ['a wrong option', new OptionError('name', 'x')],
    ['an error of the store', new StoreError('STORE_SILENT', 'x')],
    ['a timeout that is not of a policy', new DOMException('x', 'TimeoutError')],
    ['the end of a call of another request', new ClientGoneError()],
    ['a string', 'CIRCUIT_OPEN'],
    ['null', null],
    ['nothing', undefined],
  ])('passes %s on', (_, error) => expect(judge(error, HERE)).toEqual({ go: 'pass' }))

  it('passes even its own on once the head is sent', () => {
    expect(judge(new CircuitOpenError('payments', 1), { ...HERE, isHeadSent: true })).toEqual({ go: 'pass' })
  })

  it.each([
    ['a policy error', new CircuitOpenError('payments', 1)],
    ['the end of a call', new ClientGoneError()],
    ['an abort as others name it', new DOMException('x', 'AbortError')],
  ])('drops %s when the client is gone', (_, error) => {
    expect(judge(error, { ...HERE, isClientGone: true })).toEqual({ go: 'drop' })
    expect(judge(error, { ...HERE, isClientGone: true, isHeadSent: true })).toEqual({ go: 'drop' })
  })

  it('does not swallow a bug because the client is gone', () => {
    expect(judge(new TypeError('x'), { ...HERE, isClientGone: true })).toEqual({ go: 'pass' })
  })
})
