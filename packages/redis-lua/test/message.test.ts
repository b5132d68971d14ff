import { describe, expect, it } from 'vitest'
import { readMessage, UnreadableReplyError } from '../src'

/** half-open, digits, the nonce `ab`, openedAt, probeAfter, trips, probeSuccesses, fleet, now, the owner `x`, until */
const whole = '2 1764560000000000 2 24930 1764560000000 1764560000500 1 0 3 1764560000600 1 120 1764560001600'

/** The same with other numbers in some places. */
function message(over: Readonly<Record<number, number | string>>): string {
  return whole
    .split(' ')
    .map((number, place) => over[place] ?? number)
    .join(' ')
}

describe('a message', () => {
  it('is read as the snapshot that was told', () => {
    expect(readMessage(whole)).toEqual({
      state: 'half-open',
      fence: '1764560000000000.ab',
      openedAt: 1764560000000,
      probeAfter: 1764560000500,
      trips: 1,
      probeSuccesses: 0,
      fleet: 3,
      now: 1764560000600,
      probe: { owner: 'x', until: 1764560001600 },
    })
  })

  const others: [string, string][] = [
    ['nothing', ''],
    ['a greeting', 'hello'],
    ['something of JSON', '{"state":"open"}'],
    ['too few numbers', '1 2 3'],
    ['a number more', `${whole} 1`],
    ['another blank', `${whole} `],
  ]
  for (const [what, text] of others) {
    it(`of ${what} is none`, () => expect(() => readMessage(text)).toThrow(UnreadableReplyError))
  }

  const contradictions: [string, string][] = [
    ['a fence of a digit too many', message({ 1: '17645600000000000' })],
    ['a nonce that no caller can have', message({ 3: 0x2e2e })],
    ['a state that is not half-open, with a permit', message({ 0: 1 })],
    ['a state that is closed, with a cooldown', message({ 0: 0 })],
    ['a state that is half-open, without openedAt', message({ 4: -1 })],
    ['a state that is half-open, without probeAfter', message({ 5: -1 })],
    ['an owner without a lease', message({ 12: -1 })],
  ]
  for (const [what, text] of contradictions) {
    it(`of ${what} is none, though each number is one`, () => {
      expect(() => readMessage(text)).toThrow(UnreadableReplyError)
    })
  }
})
