// Writes src/scripts.generated.ts from the .lua files.
//
//   node --import tsx build/generate.ts [--check]     --check only says whether it would change
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { findings } from './check'
import { moduleOf } from './module'
import { assembleAll } from './scripts'

const target = new URL('../src/scripts.generated.ts', import.meta.url)
const scripts = assembleAll()
const found = scripts.flatMap(({ name, text }) => findings(name, text))
const generated = moduleOf(scripts)
const isFresh = existsSync(target) && readFileSync(target, 'utf8') === generated

for (const finding of found) console.error(finding)
if (found.length > 0) process.exitCode = 1
else if (!process.argv.includes('--check')) writeFileSync(target, generated)
else if (!isFresh) {
  console.error('src/scripts.generated.ts is not what the .lua files make: run `npm run generate`')
  process.exitCode = 1
}
