import type { Assembled, Field } from './assemble'

const ARGUMENTS: Readonly<Record<string, string>> = {
  text: 'string',
  number: 'number',
  optional: 'number | undefined',
  flag: 'boolean',
}

/** The TypeScript module that has the scripts, each with the types of what it takes and answers. */
export function moduleOf(scripts: readonly Assembled[]): string {
  const head = [
    '// Made from the .lua files by `npm run generate`; changes belong there.',
    "import type { Script } from './script'",
    '',
  ]
  return [...head, ...scripts.flatMap(declaration)].join('\n')
}

function declaration(script: Assembled): readonly string[] {
  const { keys, args, reply, text, digest } = script
  const name = camel(script.name, '-')
  const takes = args.map((arg) => `${camel(arg.name)}: ${ARGUMENTS[arg.kind]}`)
  return [
    `export const ${name}: Script<{ ${takes.join('; ')} }, ${formatType(reply)}> = {`,
    `  name: ${literal(script.name)},`,
    `  digest: ${literal(digest)},`,
    `  keys: [${keys.map(literal).join(', ')}],`,
    `  args: [${args.map((arg) => literal(camel(arg.name))).join(', ')}],`,
    `  reply: { ${reply.map((field) => `${camel(field.name)}: ${kindValue(field.kind)}`).join(', ')} },`,
    `  text: ${template(text)},`,
    '}',
    '',
  ]
}

function formatType(reply: readonly Field[]): string {
  return `{ ${reply.map((field) => `${camel(field.name)}: ${kindValue(field.kind)}`).join('; ')} }`
}

/** Both a value and the type of it. */
function kindValue(kind: string): string {
  return kind.includes('|') ? `[${kind.split('|').map(literal).join(', ')}]` : literal(kind)
}

function camel(name: string, separator = '_'): string {
  return name.replace(new RegExp(`${separator}(.)`, 'g'), (_, letter: string) => letter.toUpperCase())
}

function literal(value: string): string {
  return `'${value}'`
}

function template(text: string): string {
  return `\`${text.replace(/[\\`]|\$\{/g, '\\$&')}\``
}
