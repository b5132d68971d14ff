import { circuitBreaker, memoryStore, OptionError } from '@tidegate/core'
import { describe, expect, it } from 'vitest'

const store = memoryStore()
const shared = {
  ...store,
  supports: { windows: ['time', 'consecutive'], push: false, shared: true } as const,
}

describe('options', () => {
  it.each([
    [{ name: '' }, 'name', "circuitBreaker: name must be a string that is not empty, got ''"],
    [{ name: 7 }, 'name', 'circuitBreaker: name must be a string that is not empty, got 7'],
    [{}, 'name', 'circuitBreaker: name must be a string that is not empty, got undefined'],
    [
      { name: 'a', windowMs: '30s' },
      'windowMs',
      "a whole number of milliseconds from 10 to 2147483647, got '30s'",
    ],
    [{ name: 'a', windowMs: 1.5 }, 'windowMs', 'got 1.5'],
    [{ name: 'a', cooldownMs: Number.NaN }, 'cooldownMs', 'got NaN'],
    [{ name: 'a', cooldownMs: 2 ** 31 }, 'cooldownMs', 'got 2147483648'],
    [{ name: 'a', cooldownMs: null }, 'cooldownMs', 'got null'],
    [{ name: 'a', failureRate: 0 }, 'failureRate', 'a number above 0 and at most 1, got 0'],
    [{ name: 'a', failureRate: 50 }, 'failureRate', 'got 50'],
    [{ name: 'a', cooldownJitter: 2 }, 'cooldownJitter', 'a number from 0 to 1, got 2'],
    [{ name: 'a', cooldownBackoff: { factor: 0.5, maxMs: 60_000 } }, 'cooldownBackoff', 'factor, at least 1'],
    [
      { name: 'a', cooldownBackoff: { factor: 2, maxMs: 5 } },
      'cooldownBackoff',
      'at least cooldownMs (30000)',
    ],
    [{ name: 'a', cooldownBackoff: { factor: 2, maxMS: 5 } }, 'cooldownBackoff', 'got an object'],
    [{ name: 'a', whenStoreDown: 'panic' }, 'whenStoreDown', "'spread' or 'hold' or 'local', got 'panic'"],
    [{ name: 'a', consistency: true }, 'consistency', "'mirror' or 'strict', got true"],
    [{ name: 'a', isFailure: 'yes' }, 'isFailure', "a function, got 'yes'"],
    [{ name: 'a', store: {} }, 'store', 'a store, got an object'],
    [{ name: 'a', clock: Date }, 'clock', 'a Clock, got a function'],
    [{ name: 'a', windowMS: 5 }, 'windowMS', 'there is no option windowMS; there are'],
    [{ name: 'a', toString: 5 }, 'toString', 'there is no option toString'],
    [
      { name: 'a', windowMs: 1_000, windowCalls: 5 },
      'windowMs',
      'windowMs and windowCalls exclude each other',
    ],
    [{ name: 'a', windowMs: 1_000, consecutiveFailures: 5 }, 'consecutiveFailures', 'exclude each other'],
    [{ name: 'a', failureRate: 0.5, consecutiveFailures: 5 }, 'consecutiveFailures', 'exclude each other'],
    [{ name: 'a', slowCallRate: 0.5 }, 'slowCallMs', 'given where slowCallRate is, got undefined'],
    [
      { name: 'a', windowCalls: 5 },
      'windowCalls',
      'windowCalls must be at least minimumCalls (10, when left out), got 5',
    ],
    [{ name: 'a', windowMs: 500, syncMs: 100 }, 'syncMs', 'at most a tenth of windowMs (50), got 100'],
    [
      { name: 'a', minReporters: 2, slowCallMs: 5, slowCallRate: 1 },
      'minReporters',
      'left out where slowCallRate',
    ],
    [
      { name: 'a', windowCalls: 50, store: shared },
      'windowCalls',
      'this store counts by windowMs or consecutiveFailures',
    ],
    [undefined, 'options', 'options must be an object, got undefined'],
  ])('refuses %j, naming %s', (options, option, message) => {
    const build = () => circuitBreaker(options as never)
    expect(build).toThrow(message)
    expect(build).toThrow(OptionError)
    expect(build).toThrow(expect.objectContaining({ code: 'INVALID_OPTION', option }))
  })

  it('shows no secret in a message', () => {
    const secret = { password: 'hunter2' }
    expect(() => circuitBreaker({ name: 'a', store: secret } as never)).not.toThrow(/hunter2/)
    expect(() =>
      circuitBreaker({ name: 'a', syncMs: `redis://:hunter2@${'x'.repeat(40)}` } as never),
    ).not.toThrow(/hunter2/)
  })

  it('takes undefined for left out', () => {
    expect(circuitBreaker({ name: 'a', windowMs: undefined, store: undefined }).state).toBe('closed')
  })
})
