import { spawnSync } from 'node:child_process'
import { bulkhead, compose, follow, hedge, retry, retryBudget, timeout } from '@tidegate/core'
import { settled, VirtualClock } from '@tidegate/core/testing'
import { describe, expect, it } from 'vitest'
import { Deadlines } from '../src/call/deadlines'
import { down, ignore, Pending } from './support/subject'

describe('attempts', () => {
  it('have each a number of their own, whichever policies made them', async () => {
    const clock = new VirtualClock()
    const numbers: number[] = []
    const failing = async ({ attempt }: { attempt: number }): Promise<never> => {
      numbers.push(attempt)
      return await down()
    }
    const options = { name: 'rates', baseDelayMs: 0, jitter: 'none', budget: false, clock } as const
    const nested = compose(retry({ ...options, maxAttempts: 2 }), retry({ ...options, maxAttempts: 3 }))
    const failed = nested.execute(failing).catch(ignore)
    await clock.advance(100)
    await failed
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('of a hedge within a retry, too', async () => {
    const clock = new VirtualClock()
    const numbers: number[] = []
    const pending = new Pending<string>()
    const slow = ({ attempt }: { attempt: number }): Promise<string> => {
      numbers.push(attempt)
      return attempt < 3 ? pending.run({} as never) : down()
    }
    const policy = compose(
      retry({ name: 'rates', maxAttempts: 2, baseDelayMs: 0, clock }),
      hedge({ name: 'rates', delayMs: 10, clock }),
    )
    const failed = policy.execute(slow).catch(ignore)
    await clock.advance(10)
    pending.reject(new Error('down'))
    await clock.advance(100)
    await failed
    expect(numbers).toEqual([1, 2, 3])
  })

  it('do not begin once the call is over, though the wait for them ended in the same turn', async () => {
    const clock = new VirtualClock()
    const policy = retry({ name: 'rates', baseDelayMs: 50, jitter: 'none', clock })
    let attempts = 0
    const caller = new AbortController()
    const failing = async (): Promise<never> => {
      attempts++
      return await down()
    }
    const call = policy
      .execute(failing, { signal: caller.signal, deadlineMs: 60 })
      .catch((error: { code: string }) => error.code)
    await settled()
    // A turn of the loop that lasts beyond both moments.
    clock.freeze(100)
    await clock.advance(1)
    await expect(call).resolves.toBe('TIMEOUT')
    await settled()
    expect(attempts).toBe(1)
  })
})

describe('a time limit', () => {
  it('counts as abandoned what runs on, and nothing that has settled or never began', async () => {
    const clock = new VirtualClock()
    const limit = timeout({ name: 'rates', timeoutMs: 50, clock })
    const policy = compose(
      retry({ name: 'rates', baseDelayMs: 1_000, jitter: 'none', budget: false, clock }),
      limit,
    )
    for (let call = 0; call < 5; call++) {
      const caller = new AbortController()
      const failed = policy.execute(down, { signal: caller.signal }).catch(ignore)
      await settled()
      caller.abort()
      await failed
    }
    expect(limit.stats()).toEqual({ timeouts: 0, abandoned: 0 })
    const pending = new Pending<string>()
    const late = limit.execute(pending.run).catch(ignore)
    await clock.advance(50)
    await late
    expect(limit.stats()).toEqual({ timeouts: 1, abandoned: 1 })
    pending.resolve('late')
    await settled()
    expect(limit.stats()).toEqual({ timeouts: 1, abandoned: 0 })
  })
})

describe('deadlines of ever other lengths', () => {
  it('cost no more than those of one', () => {
    const clock = new VirtualClock()
    const visitsOf = (lengths: number): number => {
      const deadlines = new Deadlines(clock)
      let reads = 0
      const set = Array.from({ length: 4_096 }, (_, index) => {
        const deadline = deadlines.set(0, 1_000 + ((index * 7_919) % lengths) / 7, ignore)
        const { at } = deadline
        Object.defineProperty(deadline, 'at', {
          get() {
            reads++
            return at
          },
        })
        return deadline
      })
      for (const deadline of set) deadlines.clear(deadline)
      return reads
    }
    // Comparisons and no milliseconds: n log n, and not n squared.
    expect(visitsOf(4_096)).toBeLessThan(4_096 * 12 * 8)
  })
})

describe('a policy that is reconfigured twice', () => {
  it('keeps what the first change said', () => {
    const slots = bulkhead({ name: 'rates', limit: 5, queue: 10, maxWaitMs: 100 })
    slots.reconfigure({ limit: 50 })
    slots.reconfigure({ maxWaitMs: 200 })
    expect(slots.stats().limit).toBe(50)
    const again = retry({ name: 'rates', maxAttempts: 2 })
    again.reconfigure({ maxAttempts: 7 })
    again.reconfigure({ baseDelayMs: 5 })
    expect(again.describe()).toContain('7 attempts, exponential from 5 ms')
  })

  it('refuses what is fixed, and is then what it was', () => {
    const slots = bulkhead({ name: 'rates', limit: 5 })
    for (const change of [{ name: 'other' }, { clock: new VirtualClock() }, { limits: 3 }, 'limit', null]) {
      expect(() => slots.reconfigure(change as never)).toThrow(/^bulkhead: /)
    }
    const again = retry({ name: 'rates' })
    for (const change of [{ name: 'other' }, { maxAttempts: 0 }, undefined]) {
      expect(() => again.reconfigure(change as never)).toThrow(/^retry: /)
    }
    expect(slots.stats().limit).toBe(5)
  })
})

describe('a hedge by quantile', () => {
  it('hedges as many as it says, for it counts the slow ones that lost, too', async () => {
    const clock = new VirtualClock()
    const policy = hedge({ name: 'rates', quantile: 0.95, budget: false, clock })
    // One in twenty hangs; the others are spread as waits usually are, a few of them long.
    let calls = 0
    const work = ({ signal }: { readonly signal: AbortSignal }): Promise<number> => {
      const ms = calls++ % 20 === 7 ? 1_000 : -20 * Math.log((1 + ((calls * 389) % 997)) / 998)
      return new Promise((resolve, reject) => {
        const cancel = clock.setTimeout(() => resolve(ms), ms)
        signal.addEventListener('abort', () => {
          cancel()
          reject(signal.reason)
        })
      })
    }
    for (let call = 0; call < 3_000; call++) {
      const done = policy.execute(work)
      await clock.advance(1_001)
      await done
    }
    const { hedges } = policy.stats()
    expect(hedges / 3_000).toBeGreaterThan(0.04)
    expect(hedges / 3_000).toBeLessThan(0.08)
  })
})

describe('what others throw and hold', () => {
  it('is what a retry rejects with, though it cannot be asked when to come again', async () => {
    const error = Object.assign(new Error('down'), {
      headers: {
        get: () => {
          throw new Error('no header of yours')
        },
      },
    })
    const policy = retry({ name: 'rates', maxAttempts: 1 })
    await expect(policy.execute(() => Promise.reject(error))).rejects.toBe(error)
  })

  it('is no budget unless it is one', () => {
    for (const budget of [[], new Map(), new Date(), 5, null, 'none']) {
      expect(() => retry({ name: 'rates', budget: budget as never })).toThrow(/budget must be/)
    }
    expect(retry({ name: 'rates', budget: retryBudget() }).stats().budgetLeft).toBe(10)
  })

  it('is told at once to whoever follows a signal that has aborted', () => {
    let told = 0
    follow(AbortSignal.abort(), () => told++)
    expect(told).toBe(1)
  })

  it('is a rejection, and no throw, where the language is frozen', () => {
    const script = `
      import { bulkhead } from '@tidegate/core'
      const policy = bulkhead({ name: 'rates', limit: 1 })
      void policy.execute(() => new Promise(() => {}))
      policy.execute(async () => 1).catch((error) => console.log(error.code))`
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [
        '--frozen-intrinsics',
        '--no-warnings',
        '--import',
        'tsx',
        '--conditions=tidegate-source',
        '--input-type=module',
        '-e',
        script,
      ],
      { cwd: import.meta.dirname, encoding: 'utf8' },
    )
    expect(stdout.trim(), stderr).toBe('BULKHEAD_FULL')
  })
})
