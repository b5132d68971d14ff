import {
  type Harness,
  type Hooks,
  leftOut,
  type Part,
  realTime,
  storeConformance,
  type Test,
} from '@tidegate/conformance'
import { describe, expect, it } from 'vitest'
import { ioredisStore, type RedisClient } from '../../src'

const PARTS: readonly Part[] = ['circuits', 'limits', 'leases', 'cache']

/** Short, for cases wait for hundreds of them; long enough for some commands on a machine with more to do. */
const TICK_MS = 25

/** The store as it ships, to the suite: over two clients, which are two processes to Redis. */
export function harnessOver(name: string, here: RedisClient, there: RedisClient, hooks: Hooks): Harness {
  return {
    name,
    supports: { windows: ['time', 'consecutive'], push: true, shared: true },
    create: () => ioredisStore(here),
    hooks: { advance: realTime, peer: () => ioredisStore(there), ...hooks },
    tickMs: TICK_MS,
    patienceMs: 10_000,
    // The tests below say what is left out, each by name.
    print() {},
  }
}

/** The key that goes alone where one is evicted. */
export function circuitKey(name: string): string {
  return `tidegate:{${name}}:circuit`
}

/** The whole suite, but for the cases that need these hooks, and no others. */
export function conforms(harness: Harness, missing: readonly string[]): void {
  storeConformance({ describe, it: running(() => true) }, harness)
  it('leaves nothing else of the suite out', () => {
    const reasons = ['the store does not support `count` windows', ...missing.map(needs)]
    expect(new Set(leftOut(harness, PARTS).map(({ reason }) => reason))).toEqual(new Set(reasons))
  })
}

/** The cases of the suite that need this hook, and no others. */
export function conformsWhere(hook: keyof Hooks, harness: Harness): void {
  const { [hook]: _, ...others } = harness.hooks ?? {}
  const wanted = leftOut({ ...harness, hooks: others }, PARTS).filter(({ reason }) => reason === needs(hook))
  const isWanted = (title: string): boolean => wanted.some((one) => one.title.endsWith(`: ${title}`))
  storeConformance({ describe: (_, define) => define(), it: running(isWanted) }, harness)
  it(`is asked all that needs ${hook}`, () => expect(wanted).not.toEqual([]))
}

function needs(hook: string): string {
  return `needs the hook \`${hook}\``
}

function running(isWanted: (title: string) => boolean): Test {
  const run: Test = (title, run, timeoutMs) => isWanted(title) && it(title, run, timeoutMs)
  return Object.assign(run, { skip() {} })
}
