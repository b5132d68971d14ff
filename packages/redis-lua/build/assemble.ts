import { createHash } from 'node:crypto'

/** What a script says of itself, and the text that Redis gets. */
export interface Assembled {
  /** As its file is called, without the number of keys. */
  readonly name: string
  readonly keys: readonly string[]
  /** Name and kind, in the order in which they are sent. */
  readonly args: readonly Field[]
  /** Name and kind, in the order in which they come back. */
  readonly reply: readonly Field[]
  readonly text: string
  /** SHA-1 of the text, by which Redis knows it. */
  readonly digest: string
}

export interface Field {
  readonly name: string
  readonly kind: string
}

/** A kind of argument that is not listed is text. */
const ARGUMENTS: Readonly<Record<string, (value: string) => string>> = {
  text: (value) => value,
  number: (value) => `tonumber(${value})`,
  optional: (value) => `tonumber(${value})`,
  flag: (value) => `${value} == '1'`,
}

/** Kinds of a reply, beside lists of words such as `closed|open`. */
const REPLIES = ['integer', 'optional', 'flag', 'text', 'string', 'integers']

const DIRECTIVES = ['include', 'keys', 'args', 'reply']

/**
 * One script out of its file and those that it includes. The directives in their
 * comments (`@include`, `@keys`, `@args`, `@reply`) say once what Lua and
 * TypeScript then both are given by name, so that the two cannot drift apart.
 *
 * @param read the text of an include, undefined where there is none of that name
 * @throws Error naming the file and what is wrong with it
 */
export function assemble(
  file: string,
  source: string,
  read: (include: string) => string | undefined,
): Assembled {
  const match = /^(.+)-(\d+)\.lua$/.exec(file)
  if (!match) throw new Error(`${file}: a script's file is named <operation>-<number of keys>.lua`)
  const [, name = '', count] = match
  checkDirectives(file, source, DIRECTIVES)
  const keys = words(source, 'keys')
  if (keys.length !== Number(count))
    throw new Error(`${file}: declares ${keys.length} keys, and not ${count}`)
  const args = words(source, 'args').map((word) => fieldOf(word, 'text'))
  for (const { name: arg, kind } of args) {
    if (!Object.hasOwn(ARGUMENTS, kind))
      throw new Error(`${file}: no argument is of kind ${kind}, as ${arg} is said to be`)
  }
  const includes = words(source, 'include').map((include) => {
    const text = read(include)
    if (text === undefined) throw new Error(`${file}: there is no include ${include}`)
    checkDirectives(`${include}.lua`, text, ['reply'])
    return { include, text }
  })
  const records = new Map(includes.map(({ include, text }) => [include, recordOf(include, text)]))
  const reply = words(source, 'reply').flatMap((word): readonly Field[] => {
    if (!word.startsWith('@')) return [replyOf(file, word)]
    const record = records.get(word.slice(1))
    if (!record || record.length === 0) throw new Error(`${file}: includes nothing that replies with ${word}`)
    return record
  })
  const endless = reply.findIndex(({ kind }) => kind === 'integers')
  if (endless >= 0 && endless < reply.length - 1)
    throw new Error(`${file}: nothing can follow ${reply[endless]?.name}, which has no end of its own`)
  const text = [
    assign(
      keys.map((key) => `${key}_key`),
      keys.map((_, index) => `KEYS[${index + 1}]`),
    ),
    assign(
      args.map((arg) => arg.name),
      args.map(({ kind }, index) => ARGUMENTS[kind]?.(`ARGV[${index + 1}]`) ?? ''),
    ),
    ...includes.flatMap(({ include, text }) => [code(text), putter(include, records.get(include) ?? [])]),
    code(source),
  ]
    .filter((part) => part !== '')
    .join('\n')
  return { name, keys, args, reply, text, digest: createHash('sha1').update(text).digest('hex') }
}

/** A directive that is spelled wrong, or stands where nobody reads it, would be a comment like any other. */
function checkDirectives(file: string, text: string, known: readonly string[]): void {
  for (const [, directive = ''] of text.matchAll(/^\s*-- *@(\w+)/gm)) {
    if (!known.includes(directive)) throw new Error(`${file}: there is no directive @${directive} here`)
  }
}

function recordOf(include: string, text: string): readonly Field[] {
  return words(text, 'reply').map((word) => replyOf(`${include}.lua`, word))
}

function replyOf(file: string, word: string): Field {
  const field = fieldOf(word, 'integer')
  if (REPLIES.includes(field.kind) || field.kind.includes('|')) return field
  throw new Error(`${file}: no reply is of kind ${field.kind}, as ${field.name} is said to be`)
}

/** The function `put_<include>` that puts a record into a reply, field by field in the order declared. */
function putter(include: string, fields: readonly Field[]): string {
  if (fields.length === 0) return ''
  const puts = fields.map(({ name, kind }) => {
    if (!kind.includes('|')) return `  put_${kind}(reply, record.${name})`
    const places = kind.split('|').map((value, index) => `['${value}'] = ${index}`)
    return `  put_integer(reply, ({ ${places.join(', ')} })[record.${name}])`
  })
  return [`local function put_${include}(reply, record)`, ...puts, 'end'].join('\n')
}

function assign(names: readonly string[], values: readonly string[]): string {
  return names.length === 0 ? '' : `local ${names.join(', ')} =\n  ${values.join(', ')}`
}

/** The words after each `-- @directive` of a text. */
function words(text: string, directive: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^-- @${directive} *(.*)$`, 'gm'))].flatMap(([, rest = '']) =>
    rest.split(/\s+/).filter((word) => word !== ''),
  )
}

function fieldOf(word: string, kind: string): Field {
  const at = word.indexOf(':')
  return at < 0 ? { name: word, kind } : { name: word.slice(0, at), kind: word.slice(at + 1) }
}

/** Without comments and blank lines, which nobody reads there. */
function code(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^\s*(--.*)?$/.test(line))
    .join('\n')
}
