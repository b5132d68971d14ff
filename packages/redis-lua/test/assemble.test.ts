import { describe, expect, it } from 'vitest'
import { assemble } from '../build/assemble'

const includes: Readonly<Record<string, string>> = {
  one: '-- @reply at:optional\nlocal function one() return { at = 1 } end',
  state: '-- @reply state:closed|open name:text',
  silent: 'local function silent() end',
  misspelled: '-- @replies at',
  nested: '-- @include one',
  odd: '-- @reply at:moment',
}

function assembled(file: string, ...lines: string[]): ReturnType<typeof assemble> {
  return assemble(file, lines.join('\n'), (include) => includes[include])
}

describe('a script', () => {
  it('gets what it declares by name, then its includes, then itself', () => {
    const { text } = assembled(
      'do-it-2.lua',
      '-- Does it.',
      '-- @include silent one',
      '-- @keys first second',
      '-- @args name count:number until:optional strict:flag',
      '-- @reply ok:flag @one left',
      '',
      'return {}',
    )
    expect(text).toBe(
      [
        'local first_key, second_key =',
        '  KEYS[1], KEYS[2]',
        'local name, count, until, strict =',
        "  ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1'",
        'local function silent() end',
        'local function one() return { at = 1 } end',
        'local function put_one(reply, record)',
        '  put_optional(reply, record.at)',
        'end',
        'return {}',
      ].join('\n'),
    )
  })

  it('says what it takes and answers, in order', () => {
    const { name, keys, args, reply } = assembled(
      'do-it-1.lua',
      '-- @include state',
      '-- @keys first',
      '-- @args name count:number',
      '-- @reply ok:flag @state left',
    )
    expect({ name, keys }).toEqual({ name: 'do-it', keys: ['first'] })
    expect(args.map(({ name, kind }) => `${name}:${kind}`)).toEqual(['name:text', 'count:number'])
    expect(reply.map(({ name, kind }) => `${name}:${kind}`)).toEqual([
      'ok:flag',
      'state:closed|open',
      'name:text',
      'left:integer',
    ])
  })

  it('puts a word of a list as its place there', () => {
    expect(assembled('do-it-0.lua', '-- @include state').text).toContain(
      "put_integer(reply, ({ ['closed'] = 0, ['open'] = 1 })[record.state])",
    )
  })

  it('may take several lines for what it declares', () => {
    const { args } = assembled('do-it-0.lua', '-- @args a b', '-- @args c:flag')
    expect(args.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  const wrong: [string, string, string[], string][] = [
    [
      'a file without a number',
      'do-it.lua',
      [],
      'do-it.lua: a script’s file is named <operation>-<number of keys>.lua',
    ],
    ['another number of keys', 'do-it-2.lua', ['-- @keys first'], 'do-it-2.lua: declares 1 keys, and not 2'],
    ['no keys', 'do-it-1.lua', [], 'do-it-1.lua: declares 0 keys, and not 1'],
    ['an include that is none', 'do-it-0.lua', ['-- @include onee'], 'do-it-0.lua: there is no include onee'],
    [
      'an argument of another kind',
      'do-it-0.lua',
      ['-- @args at:moment'],
      'do-it-0.lua: no argument is of kind moment, as at is said to be',
    ],
    [
      'an argument of a kind of every object',
      'do-it-0.lua',
      ['-- @args at:constructor'],
      'no argument is of kind constructor',
    ],
    [
      'a reply of another kind',
      'do-it-0.lua',
      ['-- @reply ok:flga'],
      'do-it-0.lua: no reply is of kind flga, as ok is said to be',
    ],
    [
      'a reply that goes on after what has no end',
      'do-it-0.lua',
      ['-- @include one', '-- @reply numbers:integers @one'],
      'do-it-0.lua: nothing can follow numbers, which has no end of its own',
    ],
    [
      'an include with a reply of another kind',
      'do-it-0.lua',
      ['-- @include odd'],
      'odd.lua: no reply is of kind moment, as at is said to be',
    ],
    [
      'the record of something it does not include',
      'do-it-0.lua',
      ['-- @reply @one'],
      'do-it-0.lua: includes nothing that replies with @one',
    ],
    [
      'the record of something that has none',
      'do-it-0.lua',
      ['-- @include silent', '-- @reply @silent'],
      'includes nothing that replies with @silent',
    ],
    [
      'a directive that is none',
      'do-it-0.lua',
      ['-- @arg name'],
      'do-it-0.lua: there is no directive @arg here',
    ],
    [
      'an include with a directive that is none',
      'do-it-0.lua',
      ['-- @include misspelled'],
      'misspelled.lua: there is no directive @replies here',
    ],
    [
      'an include that includes',
      'do-it-0.lua',
      ['-- @include nested'],
      'nested.lua: there is no directive @include here',
    ],
  ]
  for (const [what, file, lines, message] of wrong) {
    it(`is refused with ${what}`, () =>
      expect(() => assembled(file, ...lines)).toThrow(message.replace('’', "'")))
  }
})
