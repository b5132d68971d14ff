import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { fixture } from './fixture'

const script = fileURLToPath(new URL('../../scripts/check-imports.mjs', import.meta.url))

function check(files: Record<string, string | object>): { status: number | null; findings: string[] } {
  using broken = fixture(files)
  const { status, stderr } = spawnSync(process.execPath, [script, broken.root], { encoding: 'utf8' })
  return { status, findings: stderr.split('\n').filter(Boolean) }
}

const contract = { 'packages/contract/package.json': { name: '@tidegate/contract' } }
const core = {
  'packages/core/package.json': {
    name: '@tidegate/core',
    dependencies: { '@tidegate/contract': 'workspace:^' },
  },
}
const memory = {
  'stores/memory/package.json': {
    name: '@tidegate/store-memory',
    dependencies: { '@tidegate/contract': 'workspace:^' },
  },
}

test('passes sources that follow their arrows', () => {
  const { status, findings } = check({
    ...contract,
    'packages/contract/src/index.ts': `export * from './fence'`,
    ...core,
    'packages/core/src/index.ts': `export { memoryStore } from '@tidegate/store-memory'`,
  })
  expect(findings).toEqual([])
  expect(status).toBe(0)
})

test('names the file and the forbidden import', () => {
  const { status, findings } = check({
    ...memory,
    'stores/memory/src/deep/circuits.ts': `import type { Policy } from '@tidegate/core'`,
  })
  expect(status).toBe(1)
  expect(findings).toEqual([
    'stores/memory/src/deep/circuits.ts: imports @tidegate/core, which its arrows do not allow',
  ])
})

test.each([
  ['a re-export', `export * from 'ioredis'`],
  ['a dynamic import', `export const load = () => import('ioredis')`],
  ['a type', `export type Client = import('ioredis').Redis`],
  ['require', `const redis = require('ioredis')`],
  ['import =', `import redis = require('ioredis')`],
  ['a subpath', `import 'ioredis/built/utils'`],
])('finds what comes in by %s', (_, source) => {
  const { status, findings } = check({ ...core, 'packages/core/src/index.ts': source })
  expect(status).toBe(1)
  expect(findings.join()).toMatch(/^packages\/core\/src\/index\.ts: imports ioredis/)
})

test('does not mistake a comment or a string for an import', () => {
  const source = `/** import { x } from 'express' */\nexport const text = "import 'koa'"`
  expect(check({ ...core, 'packages/core/src/index.ts': source }).findings).toEqual([])
})

test('keeps built-ins of Node.js out of core, with and without their prefix', () => {
  const source = `import 'node:fs'\nimport 'events'`
  const { findings } = check({ ...core, 'packages/core/src/index.ts': source })
  expect(findings).toHaveLength(2)
})

test('refuses a path into another package', () => {
  const { findings } = check({ ...core, 'packages/core/src/a.ts': `import '../../http/src/index'` })
  expect(findings).toEqual([
    'packages/core/src/a.ts: imports ../../http/src/index, which lies outside the package',
  ])
})

test("refuses core in a store's tests", () => {
  const { findings } = check({
    ...memory,
    'stores/memory/test/store.test.ts': `import { circuitBreaker } from '@tidegate/core'`,
  })
  expect(findings.join()).toContain('stores/memory/test/store.test.ts: imports @tidegate/core')
})

test('refuses a dependency from outside the workspace', () => {
  const { findings } = check({
    'packages/core/package.json': { name: '@tidegate/core', dependencies: { 'p-queue': '^8' } },
  })
  expect(findings).toEqual([
    'packages/core/package.json: dependencies has p-queue, which its arrows do not allow',
  ])
})

test('asks for the arrows of a package it does not know', () => {
  const { status, findings } = check({ 'packages/new/package.json': { name: '@tidegate/new' } })
  expect(status).toBe(1)
  expect(findings.join()).toContain('@tidegate/new')
})
