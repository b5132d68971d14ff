import { Bench } from './bench'
import type { Case, Group, Need } from './case'
import type { Harness, Part, Runner } from './harness'

/** What was left out, and for want of what. */
export interface LeftOut {
  readonly title: string
  readonly reason: string
}

/** Generous: where time is real, a case waits for some tens of ticks. */
const TIMEOUT_MS = 30_000

/** As tests of this runner, under this title; what is left out shows, and is printed once. */
export function layOut(runner: Runner, harness: Harness, title: string, groups: readonly Group[]): void {
  for (const { title, reason } of missing(harness, groups)) printLeftOut(harness, title, reason)
  runner.describe(`${harness.name}: ${title}`, () => {
    for (const { title, cases } of groups) {
      runner.describe(title, () => {
        for (const one of cases) lay(runner, harness, one)
      })
    }
  })
}

/** A part that the store does not have: one line, and one test that is skipped. */
export function layOutMissing(runner: Runner, harness: Harness, title: string, part: Part): void {
  const reason = `the store has no \`${part}\``
  printLeftOut(harness, title, reason)
  runner.describe(`${harness.name}: ${title}`, () => skip(runner, title, reason))
}

/** What of these groups is left out for this harness. */
export function missing(harness: Harness, groups: readonly Group[]): readonly LeftOut[] {
  return groups.flatMap(({ title: group, cases }) =>
    cases.flatMap(({ title, needs }) => {
      const reason = whyLeftOut(harness, needs)
      return reason === undefined ? [] : [{ title: `${group}: ${title}`, reason }]
    }),
  )
}

function lay(runner: Runner, harness: Harness, { title, needs, run }: Case): void {
  const reason = whyLeftOut(harness, needs)
  if (reason === undefined) runner.it(title, () => withBench(harness, run), TIMEOUT_MS)
  else skip(runner, title, reason)
}

function skip({ it }: Runner, title: string, reason: string): void {
  if (it.skip) it.skip(`left out: ${title}: ${reason}`, () => {})
  else it(`left out: ${title}: ${reason}`, () => {})
}

function printLeftOut({ name, print = console.info }: Harness, title: string, reason: string): void {
  print(`${name}: left out: ${title}: ${reason}`)
}

async function withBench(harness: Harness, run: (bench: Bench) => Promise<void>): Promise<void> {
  const bench = await Bench.open(harness)
  try {
    await run(bench)
  } finally {
    await bench.close()
  }
}

function whyLeftOut({ supports, hooks, parts }: Harness, needs: readonly Need[]): string | undefined {
  for (const need of needs) {
    switch (need) {
      case 'push':
        if (!supports.push) return 'the store does not support `push`'
        break
      case 'time':
      case 'consecutive':
      case 'count':
        if (!supports.windows.includes(need)) return `the store does not support \`${need}\` windows`
        break
      case 'circuits':
      case 'limits':
      case 'leases':
      case 'cache':
        if (parts && !parts.includes(need)) return `the store has no \`${need}\``
        break
      default:
        if (hooks?.[need] === undefined) return `needs the hook \`${need}\``
    }
  }
  return undefined
}
