import luaparse from 'luaparse'

/** What Redis gives a script, as far as ours may use it. */
const GLOBALS = ['ARGV', 'KEYS', 'ipairs', 'math', 'redis', 'string', 'table', 'tonumber', 'unpack']

/**
 * What is wrong with a script: it does not parse, it uses a global that is none of
 * those that a script has, or it drops digits.
 */
export function findings(name: string, text: string): readonly string[] {
  const found: string[] = []
  try {
    luaparse.parse(text, {
      luaVersion: '5.1',
      scope: true,
      onCreateNode(node) {
        if (node.type !== 'Identifier') return
        const { name: identifier, isLocal } = node as luaparse.Identifier & { isLocal?: boolean }
        if (isLocal !== false || GLOBALS.includes(identifier)) return
        found.push(`${name}: ${identifier} is no global of a script`)
      },
    })
  } catch (error) {
    return [`${name}: ${(error as Error).message}`]
  }
  return found
}
