import { describe, expect, it } from 'vitest'
import { decode, UnreadableReplyError } from '../src/decode'
import type { Format, Kind } from '../src/script'

const STATES = ['closed', 'open'] as const

function read(kind: Kind, ...reply: unknown[]): unknown {
  return (decode('a-script', { field: kind } as Format, reply) as { field: unknown }).field
}

describe('a reply', () => {
  const good: [Kind, unknown[], unknown][] = [
    ['integer', [0], 0],
    ['integer', [Number.MAX_SAFE_INTEGER], Number.MAX_SAFE_INTEGER],
    ['integer', ['42'], 42],
    ['optional', [7], 7],
    ['optional', [-1], undefined],
    ['optional', ['-1'], undefined],
    ['flag', [0], false],
    ['flag', [1], true],
    ['flag', ['1'], true],
    [STATES, [0], 'closed'],
    [STATES, ['1'], 'open'],
    ['text', [0], ''],
    ['text', [1, 0x61], 'a'],
    ['text', [2, 0x6162], 'ab'],
    ['text', ['7', '107075202213222', 103], 'abcdefg'],
    ['string', ['='], ''],
    ['string', ['=42'], '42'],
    ['string', ['={"a":"=é\n"}'], '{"a":"=é\n"}'],
  ]
  for (const [kind, reply, value] of good) {
    it(`of ${JSON.stringify(reply)} is read as ${kind}`, () => expect(read(kind, ...reply)).toBe(value))
  }

  it('is read to its end as integers', () => {
    expect(read('integers')).toEqual([])
    expect(read('integers', 3, '0', 7)).toEqual([3, 0, 7])
    expect(decode('a-script', { ok: 'flag', rest: 'integers' }, [1, 5])).toEqual({ ok: true, rest: [5] })
  })

  it('is read field by field, in the order of its format', () => {
    const format = { ok: 'flag', name: 'text', at: 'optional', count: 'integer' } as const
    expect(decode('a-script', format, [1, 2, 0x6162, -1, 5])).toEqual({
      ok: true,
      name: 'ab',
      at: undefined,
      count: 5,
    })
  })

  const noList: unknown[] = [
    null,
    undefined,
    'OK',
    5,
    true,
    {},
    { 0: 1, length: 1 },
    Buffer.from([1]),
    new Error('x'),
  ]
  for (const reply of noList) {
    it(`is refused where it is no list but ${String(reply) || 'a buffer'}`, () => {
      expect(() => decode('a-script', { field: 'integer' }, reply)).toThrow(UnreadableReplyError)
    })
  }

  const noNumber: unknown[] = [
    null,
    undefined,
    true,
    {},
    [1],
    [[1]],
    1n,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    '',
    ' 1',
    '1 ',
    '1.5',
    '1e3',
    '0x10',
    '+1',
    '--1',
    'one',
    '90071992547409920',
    Buffer.from('1'),
  ]
  for (const value of noNumber) {
    it(`is refused with ${typeof value} ${shown(value)} for a number`, () => {
      for (const kind of ['integer', 'optional', 'flag', 'text', 'integers', STATES] as Kind[]) {
        expect(() => read(kind, value)).toThrow(UnreadableReplyError)
      }
    })
  }

  const bad: [string, Kind, unknown[]][] = [
    ['a number below 0', 'integer', [-1]],
    ['what is neither there nor left out', 'optional', [-2]],
    ['a flag that is neither up nor down', 'flag', [2]],
    ['a flag below 0', 'flag', [-1]],
    ['a word that is not in the list', STATES, [2]],
    ['a word before the list', STATES, [-1]],
    ['no field where there should be one', 'integer', []],
    ['a field more than there should be', 'integer', [1, 1]],
    ['a text of a length below 0', 'text', [-1]],
    ['a text that ends too early', 'text', [7, 107075202213222]],
    ['a text without its letters', 'text', [1]],
    ['a text that goes on after its end', 'text', [1, 0x61, 0x61]],
    ['a text with a letter too many in a number', 'text', [1, 0x6161]],
    ['a text with a number below 0', 'text', [1, -1]],
    ['a text with a number that is none', 'text', [1, 'a']],
    ['a text of more than anybody would call something', 'text', [2 ** 20 + 1, 0]],
    ['a text as long as there are numbers', 'text', [Number.MAX_SAFE_INTEGER]],
    ['a text with a line break', 'text', [2, 0x610a]],
    ['a text with a NUL', 'text', [2, 0x6100]],
    ['a text beyond ASCII', 'text', [1, 0xe9]],
    ['a string without its mark', 'string', ['42']],
    ['a string that is none', 'string', [42]],
    ['a string that a client took for JSON', 'string', [{ a: 1 }]],
    ['no string where there should be one', 'string', []],
    ['a list with a number below 0', 'integers', [1, -1]],
  ]
  for (const [what, kind, reply] of bad) {
    it(`is refused with ${what}`, () => expect(() => read(kind, ...reply)).toThrow(UnreadableReplyError))
  }

  it('is refused by a code, the script and the field, and without what stood there', () => {
    const thrown = () => read('integer', 'a secret')
    expect(thrown).toThrow(
      expect.objectContaining({ code: 'STORE_UNREADABLE', name: 'UnreadableReplyError' }),
    )
    expect(thrown).toThrow(/a-script.*field/)
    expect(thrown).not.toThrow(/secret/)
  })
})

function shown(value: unknown): string {
  return typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? 'undefined')
}
