import { Redis } from 'ioredis'
import { afterEach, describe, expect, it } from 'vitest'
import { startRedis } from '../support/redis'
import { until } from '../support/until'
import { type Instance, instanceOn, outcomeOf, up } from './instance'

const SIZE = 8
const COOLDOWN_MS = 250
const COOLDOWNS = 20

/** How long the dependency takes to fail: long enough for probes to be there together, if they come together. */
const FAILING_MS = 20

const ending: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

describe('eight instances whose dependency is down, and whose Redis is too', () => {
  it("probe about once a cooldown between them where they are to 'spread'", async () => {
    const { probesPerCooldown, most } = await probesWithoutStore('spread')
    console.log(`'spread': ${probesPerCooldown} probes a cooldown, at most ${most} at once`)
    expect(probesPerCooldown).toBeGreaterThanOrEqual(0.5)
    expect(probesPerCooldown).toBeLessThanOrEqual(2)
    expect(most).toBeLessThan(SIZE)
  }, 40_000)

  it("do not probe where they are to 'hold'", async () => {
    const { probesPerCooldown } = await probesWithoutStore('hold')
    expect(probesPerCooldown).toBe(0)
  }, 40_000)

  it("probe once a cooldown each where they are to do so for themselves ('local')", async () => {
    const { probesPerCooldown } = await probesWithoutStore('local')
    expect(probesPerCooldown).toBeGreaterThan(SIZE / 2)
  }, 40_000)
})

async function probesWithoutStore(
  whenStoreDown: 'spread' | 'hold' | 'local',
): Promise<{ probesPerCooldown: number; most: number }> {
  const server = await startRedis()
  ending.push(() => server.stop())
  const fleet: Instance[] = []
  for (let index = 0; index < SIZE; index++) {
    const redis = new Redis({ port: server.port, retryStrategy: () => 100 })
    const one = await instanceOn(redis, {
      cooldownMs: COOLDOWN_MS,
      probeTimeoutMs: COOLDOWN_MS / 2,
      whenStoreDown,
    })
    ending.push(() => one[Symbol.asyncDispose]())
    fleet.push(one)
  }
  // The first to come have not heard of the last yet.
  for (const { breaker } of fleet) {
    await breaker.execute(up)
    await breaker.flush()
  }
  await server.kill()

  let [probes, atOnce, most, isOver] = [0, 0, 0, false]
  const loops = fleet.map(async ({ breaker }) => {
    const fail = async (): Promise<never> => {
      const isProbe = breaker.state === 'half-open'
      if (isProbe) {
        probes++
        most = Math.max(most, ++atOnce)
      }
      await sleep(FAILING_MS)
      if (isProbe) atOnce--
      throw new Error('down')
    }
    while (!isOver) {
      await outcomeOf(breaker.execute(fail))
      await sleep(5)
    }
  })
  ending.push(async () => {
    isOver = true
    await Promise.all(loops)
  })
  await until('everybody to stop calling', () => fleet.every(({ breaker }) => breaker.state === 'open'))
  const [start, before] = [performance.now(), probes]
  await until(`${COOLDOWNS} cooldowns`, () => performance.now() - start >= COOLDOWNS * COOLDOWN_MS)
  return { probesPerCooldown: (probes - before) / COOLDOWNS, most }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
