// Runs the packages' own tests on the other Node.js majors that are supported, each fetched once through npm.
//
//   node scripts/test-majors.mjs [major ...]
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root } from './workspace.mjs'

const own = process.versions.node.split('.')[0]
const supported = ['20', '22', '24', '26']
const asked = process.argv.slice(2)
const majors = asked.length > 0 ? asked : supported.filter((major) => major !== own)

const failed = []
for (const major of majors) {
  const bin = nodeOf(major)
  const node = join(bin, 'node')
  console.log(`\nNode.js ${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()}`)
  const { status } = spawnSync(
    node,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--project',
      'unit',
      '--reporter',
      'dot',
      '--reporter',
      './scripts/total-reporter.mjs',
    ],
    {
      cwd: root,
      stdio: 'inherit',
      // A test that starts `node` means the one it runs on.
      env: { ...process.env, PATH: bin + delimiter + process.env.PATH },
    },
  )
  if (status !== 0) failed.push(major)
}
if (failed.length > 0) {
  console.error(`failed on Node.js ${failed.join(', ')}`)
  process.exitCode = 1
}

/** The folder of a major's `node`, from the registry's package of it or from where an earlier run left it. */
function nodeOf(major) {
  const cache = join(root, 'node_modules/.cache/tidegate/node')
  const bin = join(cache, major, 'bin')
  if (existsSync(bin)) return bin
  const unpacking = join(cache, `${major}.unpacking`)
  rmSync(unpacking, { recursive: true, force: true })
  mkdirSync(unpacking, { recursive: true })
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}@${major}`
  execFileSync('npm', ['pack', '--silent', '--pack-destination', unpacking, name], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const tarball = readdirSync(unpacking).find((file) => file.endsWith('.tgz'))
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1'], { cwd: unpacking })
  rmSync(join(unpacking, tarball))
  renameSync(unpacking, join(cache, major))
  return bin
}
