// Makes every published package's dist/. Does nothing while no source has changed since it last did.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { filesIn, packages, root } from './workspace.mjs'

process.chdir(root)
const stamp = 'node_modules/.cache/tidegate/built'
const all = packages()
const published = all.filter(({ manifest }) => !manifest.private)

// One digest over everything: private packages are inlined, so that one's sources can change another's dist/.
const hash = createHash('sha256')
const shared = ['scripts/build.mjs', 'tsconfig.base.json', 'pnpm-lock.yaml']
const sources = all.flatMap(({ dir }) => [
  `${dir}/package.json`,
  `${dir}/tsconfig.json`,
  ...filesIn(`${dir}/src`),
])
for (const file of [...shared, ...sources]) hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
const digest = hash.digest('hex')

const fresh = existsSync(stamp) && readFileSync(stamp, 'utf8') === digest
if (!fresh || !published.every(({ dir }) => existsSync(`${dir}/dist`))) {
  const { build } = await import('tsdown')
  rmSync(stamp, { force: true })
  for (const { dir, manifest } of published) {
    await build({
      cwd: join(root, dir),
      config: false,
      entry: entries(manifest),
      format: ['esm', 'cjs'],
      dts: { sourcemap: false },
      sourcemap: true,
      checks: { legacyCjs: false },
      target: 'node20.19',
      failOnWarn: true,
      logLevel: 'warn',
    })
    dropMapLinks(join(root, dir, 'dist'))
    console.log(`built ${dir}`)
  }
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, digest)
}

/** Declarations are published without maps, and the bundler links to them all the same. */
function dropMapLinks(dist) {
  for (const file of readdirSync(dist)) {
    if (!/\.d\.[mc]ts$/.test(file)) continue
    const path = join(dist, file)
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?/m, ''))
  }
}

/** The sources behind a manifest's exports; `./src/prometheus.ts` becomes `dist/prometheus.*`. */
function entries(manifest) {
  return Object.values(manifest.exports)
    .map((conditions) => conditions['tidegate-source'])
    .filter(Boolean)
}
