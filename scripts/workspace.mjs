import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** The folders whose children are published, or inlined into what is. */
const shelves = ['packages', 'stores', 'adapters']

/** Every package on the shelves, as `{ dir, manifest }`; `dir` is relative to the given root. */
export function packages(from = root) {
  return shelves
    .flatMap((shelf) => children(from, shelf))
    .filter((dir) => existsSync(join(from, dir, 'package.json')))
    .map((dir) => ({ dir, manifest: JSON.parse(readFileSync(join(from, dir, 'package.json'), 'utf8')) }))
}

/** The files under a folder, as paths that begin with it, in a fixed order; none where there is no folder. */
export function filesIn(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

function children(from, shelf) {
  if (!existsSync(join(from, shelf))) return []
  return readdirSync(join(from, shelf))
    .sort()
    .map((name) => `${shelf}/${name}`)
}
