import { OptionError } from '@tidegate/core'
import { describe, expect, it } from 'vitest'
import { createGuard, createOutbound, createProblems } from '../src/index'

const policy = { name: 'payments', execute: () => Promise.reject(new Error()), rejection: () => undefined }

function refusalOf(build: () => unknown): OptionError {
  try {
    build()
  } catch (error) {
    if (error instanceof OptionError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('an option that does not fit', () => {
  const any = (value: unknown): never => value as never

  it.each<[string, () => unknown, string, string]>([
    ['problems', () => createProblems({ reveal: any('yes') }), 'reveal', "must be true or false, got 'yes'"],
    ['problems', () => createProblems(any({ show: 1 })), 'show', 'there is no option show; there are reveal'],
    ['problems', () => createProblems(any(null)), 'options', 'must be an object, got null'],
    [
      'problems',
      () => createProblems(any({ __proto__: null, toString: 1 })),
      'toString',
      'no option toString',
    ],
    ['circuitGuard', () => createGuard(any(undefined)), 'policy', 'must be a circuit breaker, got undefined'],
    ['circuitGuard', () => createGuard(any({ execute() {} })), 'policy', 'a circuit breaker, got an object'],
    ['circuitGuard', () => createGuard(policy, { reveal: any(1) }), 'reveal', 'must be true or false, got 1'],
    [
      'outbound',
      () => createOutbound(any(undefined)),
      'policies',
      'an object of policies by name, got undefined',
    ],
    [
      'outbound',
      () => createOutbound(any([policy])),
      'policies',
      'an object of policies by name, got an array',
    ],
    ['outbound', () => createOutbound({ payments: any(undefined) }), 'payments', 'a policy, got undefined'],
    ['outbound', () => createOutbound({ payments: any(null) }), 'payments', 'a policy, got null'],
    ['outbound', () => createOutbound({}, { deadlineMs: 0 }), 'deadlineMs', 'from 1 to 2147483647, got 0'],
    ['outbound', () => createOutbound({}, { deadlineMs: 1.5 }), 'deadlineMs', 'got 1.5'],
    ['outbound', () => createOutbound({}, { deadlineMs: 2 ** 31 }), 'deadlineMs', 'got 2147483648'],
    ['outbound', () => createOutbound({}, any({ deadline: 5 })), 'deadline', 'there are deadlineMs'],
  ])('is refused by %s when it is built (%#)', (of, build, option, message) => {
    const error = refusalOf(build)
    expect(error).toMatchObject({ code: 'INVALID_OPTION', option })
    expect(error.message).toMatch(new RegExp(`^${of}: `))
    expect(error.message).toContain(message)
  })

  it('is not one that is there and undefined', () => {
    createProblems({ reveal: undefined })
    createOutbound({ payments: policy }, { deadlineMs: undefined })
  })
})
