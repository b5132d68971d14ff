import luaparse from 'luaparse'

/** What Redis gives a script, as far as ours may use it. `tostring` is not among them, for it drops digits. */
const GLOBALS = ['ARGV', 'KEYS', 'ipairs', 'math', 'redis', 'string', 'table', 'tonumber', 'unpack']

/** What is wrong with a script: it does not parse, or it uses a global that is none of those listed. */
export function findings(name: string, text: string): readonly string[] {
  try {
    return globalsOf(text)
      .filter((identifier) => !GLOBALS.includes(identifier))
      .map((identifier) => `${name}: ${identifier} is no global of a script`)
  } catch (error) {
    return [`${name}: ${(error as Error).message}`]
  }
}

function globalsOf(text: string): readonly string[] {
  const chunk = luaparse.parse(text, { luaVersion: '5.1', scope: true })
  // The types of luaparse leave it out.
  const { globals } = chunk as luaparse.Chunk & { readonly globals: readonly luaparse.Identifier[] }
  return globals.map(({ name }) => name)
}
