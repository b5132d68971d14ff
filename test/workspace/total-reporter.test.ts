import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { fixture } from './fixture'

const reporter = fileURLToPath(new URL('../../scripts/total-reporter.mjs', import.meta.url))
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')

function lastLine(files: Record<string, string>, env: Record<string, string> = {}): string | undefined {
  using tests = fixture(files)
  const args = [
    vitest,
    'run',
    '--globals',
    '--root',
    tests.root,
    '--reporter',
    'default',
    '--reporter',
    reporter,
  ]
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, ...env } })
  return stdout.trimEnd().split('\n').at(-1)
}

test('counts every test of every file', () => {
  const files = {
    'a.test.js': `test('one', () => {}); describe('deep', () => { test('two', () => {}) })`,
    'b.test.js': `test('three', () => { throw new Error('no') })`,
  }
  expect(lastLine(files)).toBe('2 passed, 1 failed')
})

test('counts a file that does not load as a failure', () => {
  expect(lastLine({ 'a.test.js': `test('one', () => {})`, 'b.test.js': `throw new Error('no')` })).toBe(
    '1 passed, 1 failed',
  )
})

test('counts an error outside every test as a failure', () => {
  const files = {
    'a.test.js': `test('one', () => {}); setTimeout(() => { throw new Error('late') }); test('two', () => new Promise((r) => setTimeout(r, 50)))`,
  }
  expect(lastLine(files)).toBe('2 passed, 1 failed')
})

test('says how many were skipped, where any were', () => {
  expect(lastLine({ 'a.test.js': `test('one', () => {}); test.skip('two', () => {})` })).toBe(
    '1 passed, 0 failed, 1 skipped',
  )
})
