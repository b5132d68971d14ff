import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { leftOut } from '../src'
import { reference } from './support/reference'

it('runs under node:test as it does under vitest', () => {
  const file = fileURLToPath(new URL('support/under-node-test.ts', import.meta.url))
  const args = ['--import', 'tsx', '--conditions', 'tidegate-source', '--test-reporter', 'tap', file]
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(stdout).toMatch(/^# fail 0$/m)
  expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThan(500)
  const { length } = leftOut(reference([], { hooks: {} }), ['circuits', 'limits', 'leases', 'cache'])
  expect(stdout).toMatch(new RegExp(`^# skipped ${length}$`, 'm'))
  expect(status).toBe(0)
})
