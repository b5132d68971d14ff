// The last line of every test run, alone on its line: N passed, N failed.
import { writeSync } from 'node:fs'

export default class TotalReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
    for (const module of modules) {
      // A file that did not load has no failed test to be counted by.
      if (module.errors().length > 0) count.failed++
      for (const test of module.children.allTests()) count[test.result().state]++
    }
    // scripts/test.mjs says here what failed before the tests, since a last line alone could look green.
    const before = process.env.TIDEGATE_FAILED_CHECKS
    const checks = before ? `FAILED before the tests: ${before}\n` : ''
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
    // On exit, so that no other reporter and no late warning comes after it.
    process.once('exit', () =>
      writeSync(1, `${checks}${count.passed} passed, ${count.failed} failed${skipped}\n`),
    )
  }
}
