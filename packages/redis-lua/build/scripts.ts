import { readdirSync, readFileSync } from 'node:fs'
import { type Assembled, assemble } from './assemble'

const lua: URL = new URL('../src/lua/', import.meta.url)

/**
 * Every script of the package, in the order of their names.
 *
 * @param instead texts that stand in for includes, by name: a clock of a test's own
 */
export function assembleAll(instead: Readonly<Record<string, string>> = {}): readonly Assembled[] {
  const read = (include: string): string =>
    instead[include] ?? readFileSync(new URL(`include/${include}.lua`, lua), 'utf8')
  return readdirSync(lua)
    .filter((file) => file.endsWith('.lua'))
    .sort()
    .map((file) => assemble(file, readFileSync(new URL(file, lua), 'utf8'), read))
}
