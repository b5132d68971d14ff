import type { TestProject } from 'vitest/node'
import { ensureRedis } from './redis/binaries'

/** Runs before any test file: whoever needs Redis finds it there, and nobody skips for want of it. */
export default function setup(project: TestProject): void {
  // Every project inherits this from the root, and once is enough.
  if (project.isRootProject()) ensureRedis()
}
