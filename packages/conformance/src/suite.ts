import { Bench } from './bench'
import type { Case, Need } from './case'
import { groups } from './cases'
import type { Harness, Runner } from './harness'

/** What was left out, and for want of what. */
export interface LeftOut {
  readonly title: string
  readonly reason: string
}

/** Generous: where time is real, a case waits for some tens of ticks. */
const TIMEOUT_MS = 30_000

/**
 * Lays out the contract of a circuit store as tests of this runner.
 *
 * What the store declares it cannot do, and what needs a hook that the harness
 * does not have, is left out: it shows as a test of its own (skipped, where the
 * runner can skip), and is printed once.
 */
export function circuitConformance(runner: Runner, harness: Harness): void {
  const missing = leftOut(harness)
  const print = harness.print ?? ((line: string) => console.info(line))
  for (const { title, reason } of missing) print(`${harness.name}: left out: ${title}: ${reason}`)
  runner.describe(`${harness.name}: the contract of circuits`, () => {
    for (const { title, cases } of groups) {
      runner.describe(title, () => {
        for (const one of cases) lay(runner, harness, one)
      })
    }
  })
}

/** What {@link circuitConformance} leaves out for this harness. */
export function leftOut(harness: Harness): readonly LeftOut[] {
  return groups.flatMap(({ title: group, cases }) =>
    cases.flatMap(({ title, needs }) => {
      const reason = whyLeftOut(harness, needs)
      return reason === undefined ? [] : [{ title: `${group}: ${title}`, reason }]
    }),
  )
}

/** The hook `advance` of a store whose time is real: waits, a little longer than `ms`. */
export function realTime(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.ceil(ms) + 2))
}

function lay({ it }: Runner, harness: Harness, { title, needs, run }: Case): void {
  const reason = whyLeftOut(harness, needs)
  if (reason === undefined) it(title, () => withBench(harness, run), TIMEOUT_MS)
  else if (it.skip) it.skip(`left out: ${title}: ${reason}`, () => {})
  else it(`left out: ${title}: ${reason}`, () => {})
}

async function withBench(harness: Harness, run: (bench: Bench) => Promise<void>): Promise<void> {
  const bench = await Bench.open(harness)
  try {
    await run(bench)
  } finally {
    await bench.close()
  }
}

function whyLeftOut({ supports, hooks }: Harness, needs: readonly Need[]): string | undefined {
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
      default:
        if (hooks?.[need] === undefined) return `needs the hook \`${need}\``
    }
  }
  return undefined
}
