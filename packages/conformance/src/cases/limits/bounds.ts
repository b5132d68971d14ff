import { capacityOf, type LimitDecision, type Quota } from '@tidegate/contract'
import { atMost, same } from '../../assertion'
import type { Bench } from '../../bench'
import { type Group, test } from '../../case'
import { LimitedKey } from '../../limited-key'
import { byEach, quotaOf } from '../../quotas'
import type { Random } from '../../random'
import { seeded } from '../../seeded'

export const bounds: Group = {
  title: 'No more than its limit',
  cases: [
    ...byEach('allows what fits and denies what is more', [], async (bench, algorithm) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf(algorithm)]
      same(remaining(await key.take(quota, 4)), 6, 'what remains of 10 after 4')
      same(remaining(await key.take(quota, 6)), 0, 'what remains of 10 after 10')
      same(remaining(await key.overask(quota, 1)), 0, 'what remains after a denial')
    }),
    ...byEach('allows no more than its bound over any span', ['advance'], (bench, algorithm) => {
      const quota = quotaOf(algorithm, { windowMs: 8 * bench.tickMs })
      return seeded(bench, (random) =>
        consumeAtRandom(bench, random, algorithm === 'gcra' ? { ...quota, burst: 6 } : quota),
      )
    }),
    test(
      'allows a burst at once that is more than the limit, and then the rate',
      ['advance'],
      async (bench) => {
        const key = new LimitedKey(bench)
        const quota = quotaOf('gcra', { limit: 4, burst: 10, windowMs: 40 * bench.tickMs })
        await key.take(quota, 10)
        await key.overask(quota, 1)
        // What drains in 25 ticks is 2.5: of a slow machine, up to 3.
        await bench.advance(25)
        await key.take(quota, 2)
        await key.overask(quota, 2)
      },
    ),
    test('allows no more at once than a burst that is less than the limit', [], async (bench) => {
      const [key, quota] = [new LimitedKey(bench), quotaOf('gcra', { burst: 3 })]
      same((await key.peek(quota)).quotas[0]?.remaining, 3, 'what remains')
      await key.take(quota, 3)
      await key.overask(quota, 1)
    }),
    test('frees in a sliding window what was consumed first, first', ['advance'], async (bench) => {
      const key = new LimitedKey(bench)
      const quota = quotaOf('sliding-window', { windowMs: 16 * bench.tickMs })
      await key.take(quota, 4)
      await bench.advance(10)
      await key.take(quota, 6)
      await bench.advance(7)
      // The first 4 are 17 ticks old, more than the window and the slice that it may err by.
      await key.take(quota, 4)
      await key.overask(quota, 1)
    }),
    test('begins a fixed window with its first consumption', ['advance'], async (bench) => {
      const key = new LimitedKey(bench)
      const quota = quotaOf('fixed-window', { windowMs: 8 * bench.tickMs })
      for (let window = 0; window < 3; window++) {
        const { quotas } = await key.take(quota, 4)
        atMost(quotas[0]?.resetMs ?? Number.NaN, quota.windowMs, 'resetMs')
        await bench.advance(5)
        await key.take(quota, 6)
        await key.overask(quota, 1)
        // Ends the window, and begins the next at no round moment of the first.
        await bench.advance(5.3)
      }
    }),
  ],
}

function remaining({ quotas }: LimitDecision): number | undefined {
  return quotas[0]?.remaining
}

interface Consumed {
  /** Between these, in whole ms of the store's clock, it came about. */
  readonly after: number
  readonly before: number
  readonly cost: number
}

const STEPS = 40

/** Asks for far more than is allowed, then compares what came through in each span with its bound. */
async function consumeAtRandom(bench: Bench, random: Random, quota: Quota): Promise<void> {
  const key = new LimitedKey(bench)
  const consumed: Consumed[] = []
  for (let step = 0; step < STEPS; step++) {
    if (random.chance(0.6)) await bench.advance(0.1 + 1.2 * random.next())
    const cost = 1 + random.below(4)
    const after = Math.floor(await bench.now())
    if (!(await key.consume(quota, cost)).allowed) continue
    consumed.push({ after, before: Math.floor(await bench.now()), cost })
  }
  if (quota.algorithm === 'fixed-window') checkFixedWindows(consumed, quota)
  for (const [from, first] of consumed.entries()) {
    let sum = 0
    for (const last of consumed.slice(from)) {
      sum += last.cost
      const span = last.before - first.after
      atMost(sum, boundOver(quota, span), `what is allowed in ${span} ms`)
    }
  }
}

function boundOver(quota: Quota, spanMs: number): number {
  const { algorithm, limit, windowMs } = quota
  if (algorithm === 'gcra') return (limit * spanMs) / windowMs + capacityOf(quota)
  // As many windows as fit into a span, and the one that is left; of a fixed one, also one that began before.
  return limit * (Math.floor(spanMs / windowMs) + (algorithm === 'fixed-window' ? 2 : 1))
}

/** Follows each window from its first consumption, as long as it is sure which one a consumption is of. */
function checkFixedWindows(consumed: readonly Consumed[], { limit, windowMs }: Quota): void {
  let [first] = consumed
  let sum = 0
  for (const next of consumed) {
    if (first && next.before - first.after >= windowMs) {
      if (next.after - first.before < windowMs) return
      first = next
      sum = 0
    }
    sum += next.cost
    atMost(sum, limit, 'what is allowed in one window')
  }
}
