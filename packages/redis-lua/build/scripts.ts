import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type Assembled, assemble } from './assemble'

const lua: URL = new URL('../src/lua/', import.meta.url)

/** Texts that stand in for includes, by name: a clock of a test's own. */
export type Instead = Readonly<Record<string, string>>

/** Every script of the package, in the order of their names. */
export function assembleAll(instead: Instead = {}): readonly Assembled[] {
  return readdirSync(lua)
    .filter((file) => file.endsWith('.lua'))
    .sort()
    .map((file) => assemble(file, readFileSync(new URL(file, lua), 'utf8'), includes(instead)))
}

/** Reads the includes of the package. */
export function includes(instead: Instead = {}): (name: string) => string | undefined {
  return (name) => {
    const file = new URL(`include/${name}.lua`, lua)
    return instead[name] ?? (existsSync(file) ? readFileSync(file, 'utf8') : undefined)
  }
}
