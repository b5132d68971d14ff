import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeName, keyOf, unescapeName } from '../src/names'

/** Any sequence of code units, halves of surrogate pairs among them; and what looks like an escape. */
const names = fc.oneof(
  fc.array(fc.nat(0xffff), { maxLength: 40 }).map((units) => String.fromCharCode(...units)),
  fc
    .array(fc.constantFrom('%', '%0041', '%d800', '%%', '41', 'a', '{', '}', ':'), { maxLength: 8 })
    .map((parts) => parts.join('')),
)

describe('an escaped name', () => {
  it('is the name of one alone: it can be undone', () => {
    fc.assert(fc.property(names, (name) => unescapeName(escapeName(name)) === name))
  })

  it('is printable ASCII without blanks, braces and what marks a nonce of a refusal', () => {
    for (let unit = 0; unit <= 0xffff; unit++) {
      const escaped = escapeName(String.fromCharCode(unit))
      if (!/^[A-Za-z0-9_.:/@%-]+$/.test(escaped)) expect.fail(`${unit.toString(16)} is escaped as ${escaped}`)
    }
  })

  it('is the name itself where that is what most names are', () => {
    expect(escapeName('payments.eu-1/v2:charge@shop_3')).toBe('payments.eu-1/v2:charge@shop_3')
  })

  it('keeps halves of surrogate pairs apart', () => {
    expect(new Set(['\ud800', '\ud801', '\ufffd'].map(escapeName))).toHaveLength(3)
  })
})

describe('a key', () => {
  it('has one pair of braces, around the name', () => {
    expect(keyOf('tidegate', '{a}b', 'counts')).toBe('tidegate:{%007ba%007db}:counts')
  })

  it('is refused a name that is none', () => {
    expect(() => keyOf('tidegate', '', 'counts')).toThrow('name must be')
    expect(() => keyOf('tidegate', undefined as unknown as string, 'counts')).toThrow(TypeError)
  })
})
