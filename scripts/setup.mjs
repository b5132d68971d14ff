// Installs the workspace where it is missing or older than the lock file, with nothing but Node.js and npm.
// It must itself run on old versions of Node.js, to say what they lack, and cannot import what it installs.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
process.chdir(root)

const { engines, packageManager } = JSON.parse(readFileSync('package.json', 'utf8'))
const needed = engines.node.replace('>=', '').split('.').map(Number)
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  fail(`Tidegate needs Node.js ${needed.join('.')} or newer; this is ${process.versions.node}.`)
}

const lock = readFileSync('pnpm-lock.yaml', 'utf8')
const stamp = 'node_modules/.tidegate-installed'
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  console.log(`Installing with ${packageManager} (once, and again when pnpm-lock.yaml changes) ...`)
  const args = [
    'exec',
    '--yes',
    '--',
    packageManager,
    'install',
    '--frozen-lockfile',
    '--reporter=append-only',
  ]
  const npm = spawnSync('npm', args, { stdio: 'inherit', shell: process.platform === 'win32' })
  if (npm.error)
    fail(`Tidegate installs with npm, which did not start (${npm.error.message}). It comes with Node.js.`)
  if (npm.status !== 0) {
    fail(
      'Installing failed; the lines above say why. It needs the npm registry, so the usual cause is no network.',
    )
  }
  writeFileSync(stamp, lock)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
