// Packs each published package as `pnpm publish` would, and has publint and attw judge the tarball.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { packages, root } from './workspace.mjs'

const published = packages().filter(({ manifest }) => !manifest.private)
const folder = mkdtempSync(join(tmpdir(), 'tidegate-pack-'))
let found = 0

try {
  for (const { dir, manifest } of published) {
    const problems = await judge(pack(dir))
    for (const problem of problems) console.error(`${manifest.name}: ${problem}`)
    found += problems.length
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (found > 0) process.exitCode = 1
else console.log(`${published.length} packages packed; publint and attw have nothing to say`)

function pack(dir) {
  const to = mkdtempSync(join(folder, 'one-'))
  execFileSync(join(root, 'node_modules/.bin/pnpm'), ['pack', '--pack-destination', to], {
    cwd: join(root, dir),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return readFileSync(join(to, readdirSync(to)[0]))
}

async function judge(tarball) {
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: exactBuffer(tarball) } })
  const { types, problems } = await checkPackage(createPackageFromTarballData(tarball))
  return [
    ...messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`),
    ...(types ? problems : [{ kind: 'no types in the tarball' }]).map(
      (problem) => `attw: ${JSON.stringify(problem)}`,
    ),
    ...contents(pkg, createPackageFromTarballData(tarball)),
  ]
}

/** What neither tool looks for: our own source condition, workspace ranges and a licence. */
function contents(pkg, packed) {
  const text = JSON.stringify(pkg)
  const files = packed.listFiles()
  return [
    text.includes('tidegate-source') && 'the packed manifest still has the condition tidegate-source',
    text.includes('workspace:') && 'the packed manifest still has a workspace: range',
    !files.some((file) => file.endsWith('/LICENSE')) && 'no LICENSE in the tarball',
  ].filter(Boolean)
}

/** A Buffer can be a view into a pool; publint reads all of what it is given. */
function exactBuffer(buffer) {
  return buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength)
}
