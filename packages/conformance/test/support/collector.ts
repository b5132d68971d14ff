import type { Runner } from '../../src'

/** A runner that runs nothing by itself: it keeps the tests, with the titles of the groups around them. */
export interface Collector extends Runner {
  readonly tests: { title: string; run: () => void | Promise<void> }[]
  readonly skipped: string[]
}

export function collector(options: { skips: boolean } = { skips: true }): Collector {
  const tests: Collector['tests'] = []
  const skipped: string[] = []
  const it: Runner['it'] = (title, run) => tests.push({ title, run })
  const skip = (title: string) => skipped.push(title)
  return {
    tests,
    skipped,
    describe: (_title, define) => define(),
    it: options.skips ? Object.assign(it, { skip }) : it,
  }
}

/** The titles of the tests that fail, with why. */
export async function failures({ tests }: Collector): Promise<Map<string, unknown>> {
  const failed = new Map<string, unknown>()
  for (const { title, run } of tests) {
    try {
      await run()
    } catch (error) {
      failed.set(title, error)
    }
  }
  return failed
}
