import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../support/redis'
import { until } from '../support/until'
import type { Held } from './gates'
import {
  callUntil,
  cooldownOver,
  fail,
  type Instance,
  instanceOn,
  MINIMUM_CALLS,
  NAME,
  outcomeOf,
  trip,
  up,
} from './instance'

/*
 * A decision is held on its way to Redis until what it was made on is gone. In each
 * case it must change nothing, and its instance must be one of the fleet afterwards.
 */

let server: RedisServer
let here: Instance
let there: Instance

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(async () => {
  await server.command('FLUSHALL')
  // Long enough for a decision to be held: it is to be refused for its fence, not for its deadline.
  here = await instanceOn(new Redis(server.port), { storeTimeoutMs: 10_000 })
  there = await instanceOn(new Redis(server.port))
})
afterEach(async () => {
  await here[Symbol.asyncDispose]()
  await there[Symbol.asyncDispose]()
})

const ENDS: readonly [string, () => Promise<unknown>][] = [
  [
    'the key has expired',
    async () => {
      await server.command('PEXPIRE', `tidegate:{${NAME}}:circuit`, 1)
      await until(
        'the key to be gone',
        async () => (await server.command('EXISTS', `tidegate:{${NAME}}:circuit`)) === 0,
      )
    },
  ],
  ['the circuit was forgotten', async () => there.store.circuits.forget(NAME)],
  ['everything was flushed', () => server.command('FLUSHALL')],
]

describe.each(ENDS)('a decision that is on its way while %s', (_, end) => {
  it('does not open what came after, as a trip', async () => {
    const held = here.gates.hold('compareAndSet')
    await fail(here, MINIMUM_CALLS)
    const swap = await held
    await end()
    expect(await swap.release()).toMatchObject({ ok: false, snapshot: { state: 'closed' } })
    await agreeOnClosed()
  })

  it('takes no permit, as a claim', async () => {
    await trip(here)
    await cooldownOver(here)
    const held = here.gates.hold('compareAndSet')
    const call = outcomeOf(here.breaker.execute(up))
    const claim = await held
    await end()
    expect(await claim.release()).toMatchObject({ ok: false, snapshot: { state: 'closed' } })
    // It lost against a circuit that is closed, so the call goes through, as any.
    expect(await call).toBe('up')
    expect(here.probes).toEqual([])
    await agreeOnClosed()
  })

  it.each(['success', 'failure'] as const)('changes nothing, as a verdict of %s', async (outcome) => {
    const verdict = await probeOf(here, outcome)
    await end()
    await trip(there)
    const { fence } = there.breaker.stats()
    expect(await verdict.release()).toMatchObject({ ok: false, snapshot: { state: 'open', fence } })
    await until('the late verdict to be told', () => here.late.length === 1)
    expect(here.late[0]).toMatchObject({ outcome, fence: here.probes[0]?.fence })
    await callUntil(there, 'closed')
    await agreeOnClosed()
  })

  it('is counted nowhere, as a tally', async () => {
    await fail(here, MINIMUM_CALLS - 2)
    const held = here.gates.hold('record')
    const tally = await held
    await end()
    await there.breaker.execute(up)
    await there.breaker.flush()
    expect(await tally.release()).toMatchObject({ counted: false, counters: { failures: 0 } })
    await agreeOnClosed()
  })
})

describe('a decision of an earlier wearing of the same label', () => {
  it('takes no permit of a later open period', async () => {
    await trip(here)
    await cooldownOver(here)
    const held = here.gates.hold('compareAndSet')
    const call = outcomeOf(here.breaker.execute(up))
    const claim = await held
    await callUntil(there, 'closed')
    await trip(there)
    await cooldownOver(there)
    // Open, its cooldown over, and nobody probing: all that a label could say is as it was.
    const { fence } = there.breaker.stats()
    expect(await claim.release()).toMatchObject({ ok: false, snapshot: { state: 'open', fence } })
    expect(await call).toBe('CIRCUIT_OPEN')
    await callUntil(there, 'closed')
    await agreeOnClosed()
  })

  it.each(['success', 'failure'] as const)(
    'gives no verdict on a later probe, as a %s that comes after its lease',
    async (outcome) => {
      const verdict = await probeOf(here, outcome)
      // The lease runs out, and the permit goes to the other instance.
      const probing = there.gates.hold('compareAndSet', ([, , to]) => to === 'closed')
      const probed = callUntil(there, 'closed')
      const other = await probing
      expect(await verdict.release()).toMatchObject({ ok: false, snapshot: { state: 'half-open' } })
      await until('the late verdict to be told', () => here.late.length === 1)
      expect(await other.release()).toMatchObject({ ok: true, snapshot: { state: 'closed' } })
      await probed
      await agreeOnClosed()
    },
  )

  it('does not open what has recovered, as the failures of calls from before', async () => {
    const calls: { reject: (error: Error) => void }[] = []
    const slow = Array.from({ length: 3 * MINIMUM_CALLS }, () =>
      outcomeOf(here.breaker.execute(() => new Promise((_, reject) => void calls.push({ reject })))),
    )
    await until('the calls to be under way', () => calls.length === slow.length)
    await trip(there)
    await callUntil(there, 'closed')
    await callUntil(here, 'closed')
    for (const { reject } of calls) reject(new Error('down, long ago'))
    await Promise.all(slow)
    await here.breaker.flush()
    expect(here.late).toHaveLength(slow.length)
    await agreeOnClosed()
    expect(here.breaker.stats().failures).toBe(0)
  })
})

/** Opens the circuit, probes it with such an outcome, and holds the verdict. */
async function probeOf(instance: Instance, outcome: 'success' | 'failure'): Promise<Held> {
  await trip(instance)
  await cooldownOver(instance)
  const to = outcome === 'success' ? 'closed' : 'open'
  const held = instance.gates.hold(
    'compareAndSet',
    ([, from, wanted]) => from === 'half-open' && wanted === to,
  )
  void outcomeOf(
    instance.breaker.execute(async () => {
      if (outcome === 'failure') throw new Error('down')
      return 'up'
    }),
  )
  return held
}

/** Both see one circuit, closed, in the period that Redis has. */
async function agreeOnClosed(): Promise<void> {
  await until(`one closed circuit, seen: ${here.breaker.state} and ${there.breaker.state}`, async () => {
    await outcomeOf(here.breaker.execute(up))
    await outcomeOf(there.breaker.execute(up))
    const { fence } = here.breaker.stats()
    return (
      here.breaker.state === 'closed' &&
      there.breaker.state === 'closed' &&
      there.breaker.stats().fence === fence
    )
  })
}
