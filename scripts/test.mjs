// Everything that must hold: the build, the static checks side by side, then every test.
//
//   node scripts/test.mjs [--static]     --static leaves the tests out
import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { root } from './workspace.mjs'

const checks = {
  types: ['tsc'],
  'format and lint': ['biome', 'check', '--error-on-warnings'],
  'dead code': ['knip'],
  lua: ['node', '--import', 'tsx', 'packages/redis-lua/build/generate.ts', '--check'],
  'import arrows': ['node', 'scripts/check-imports.mjs'],
  packages: ['node', 'scripts/check-packages.mjs'],
}
const env = { ...process.env, PATH: join(root, 'node_modules/.bin') + delimiter + process.env.PATH }

const failed = []
if (!(await quiet('build', ['node', 'scripts/build.mjs']))) failed.push('build')

// Before the tests, not beside them: tests that watch the clock want the machine to themselves.
const results = await Promise.all(
  Object.entries(checks).map(async ([name, command]) => [name, await quiet(name, command)]),
)
for (const [name, ok] of results) if (!ok) failed.push(name)
if (!process.argv.includes('--static')) {
  if (failed.length > 0) console.log(`\n${verdict()}; the tests run all the same\n`)
  const { code } = await run(['vitest', 'run'], {
    stdio: 'inherit',
    env: { ...env, TIDEGATE_FAILED_CHECKS: failed.join(', ') },
  })
  if (code !== 0) process.exitCode = 1
} else if (failed.length > 0) console.log(`\n${verdict()}`)
if (failed.length > 0) process.exitCode = 1

function verdict() {
  return `FAILED before the tests: ${failed.join(', ')}`
}

/** Runs a command and prints one line, or all it said where it failed. */
async function quiet(name, command) {
  const start = performance.now()
  const { code, output } = await run(command, { stdio: ['ignore', 'pipe', 'pipe'], env })
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(
    code === 0 ? `ok      ${name} (${seconds} s)` : `FAILED  ${name} (${command.join(' ')})\n${output}`,
  )
  return code === 0
}

function run([command, ...args], options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, shell: process.platform === 'win32', ...options })
    let output = ''
    child.stdout?.on('data', (chunk) => (output += chunk))
    child.stderr?.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => resolve({ code: 1, output: error.message }))
    child.on('close', (code) => resolve({ code, output }))
  })
}
