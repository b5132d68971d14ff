import { type CircuitState, idleLeaseMs, type Terms } from '@tidegate/contract'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { ioredisStore } from '../src'
import { fresh, swap, tally, terms } from './support/caller'
import { client } from './support/clients'

const server = await startRedis()
afterAll(() => server.stop())
beforeEach(() => server.command('FLUSHALL'))

const store = ioredisStore(client(6, server))
const { circuits } = store

const LEASE_MS = idleLeaseMs(terms())

describe('what a circuit leaves behind', () => {
  it('expires, in whatever state it is, and isolation alone does not', async () => {
    const ways: CircuitState[][] = [
      [],
      ['open'],
      ['open', 'half-open'],
      ['open', 'half-open', 'closed'],
      ['open', 'closed', 'open'],
      ['isolated', 'closed'],
      ['open', 'isolated'],
      ['isolated'],
    ]
    for (const way of ways) {
      const name = `${way.join('-') || 'created'}-${fresh()}`
      await records(name)
      for (const to of way) await soon(() => swap(store, name, to, { owner: 'me' }))
      await records(name)
    }
    const ttls = await ttlsOf('*')
    expect(
      [...ttls.keys()].every((key) =>
        /^tidegate:\{[a-z0-9-]+\}:(circuit|instances|numbers|counts|failed|failing)$/.test(key),
      ),
    ).toBe(true)
    const forever = [...ttls].filter(([, ttl]) => ttl < 0).map(([key]) => key)
    expect(forever.sort()).toEqual([
      expect.stringMatching(/^tidegate:\{isolated-circuit-\d+\}:circuit$/),
      expect.stringMatching(/^tidegate:\{open-isolated-circuit-\d+\}:circuit$/),
    ])
    for (const [key, ttl] of ttls) {
      if (forever.includes(key)) continue
      expect(ttl).toBeGreaterThan(LEASE_MS / 2)
      expect(ttl).toBeLessThanOrEqual(LEASE_MS)
    }
  })

  it('expires again once isolation was left, and by each command meanwhile it does not', async () => {
    const name = fresh()
    const circuit = `tidegate:{${name}}:circuit`
    await swap(store, name, 'isolated')
    const { fence } = await circuits.readState(name, terms())
    await circuits.record(name, fence, tally(1, { failures: 1 }), terms())
    await circuits.compareAndSet(name, 'isolated', 'open', fence, terms())
    expect(await server.command('PTTL', circuit)).toBe(-1)
    await swap(store, name, 'closed')
    expect((await ttlsOf('*')).get(circuit)).toBeGreaterThan(LEASE_MS / 2)
  })

  it('is kept for as long as the longest of what it was asked for', async () => {
    const hour = 3_600_000
    const longest: Partial<Terms>[] = [
      { cooldownMs: hour },
      { leaseMs: hour },
      { window: { kind: 'time', ms: hour } },
    ]
    for (const over of longest) {
      const name = fresh()
      await circuits.readState(name, terms(over))
      await circuits.readState(name, terms())
      const [lease = 0] = (await ttlsOf(`*{${name}}:circuit`)).values()
      expect(lease).toBeGreaterThan(1.9 * hour)
    }
  })

  it('can be asked for the longest that there is', async () => {
    const name = fresh()
    const max = Number.MAX_SAFE_INTEGER
    const over: Partial<Terms> = { cooldownMs: max, leaseMs: max, window: { kind: 'time', ms: max } }
    const { snapshot } = await swap(store, name, 'open', over)
    expect(snapshot).toMatchObject({ state: 'open', probeAfter: 8_640_000_000_000_000 })
    await circuits.record(name, snapshot.fence, tally(1, { failures: 3 }), terms(over))
    const { counters } = await circuits.record(name, snapshot.fence, tally(2), terms(over))
    expect(counters).toMatchObject({ failures: 3, reporters: 1 })
    const early = await circuits.compareAndSet(
      name,
      'open',
      'half-open',
      snapshot.fence,
      terms({ owner: 'me' }),
    )
    expect(early.ok).toBe(false)
  })

  it('is gone when it was forgotten', async () => {
    const name = fresh()
    await records(name)
    await circuits.forget(name)
    expect(await server.command('DBSIZE')).toBe(0)
  })

  it('is one set of keys, however often it opens and closes', async () => {
    const name = fresh()
    await records(name)
    const before = await server.command('DBSIZE')
    for (let n = 0; n < 30; n++) {
      await swap(store, name, 'open')
      await swap(store, name, 'closed')
    }
    await records(name)
    expect(await server.command('DBSIZE')).toBe(before)
    expect(await sizesOf(name)).toMatchObject({ instances: 3, numbers: 2 })
  })
})

describe('a circuit of very many instances', () => {
  it('remembers 1,024 of them', async () => {
    const name = fresh()
    const { fence } = await circuits.readState(name, terms())
    const consecutive = { kind: 'consecutive' } as const
    // Each leaves all that it can: a touch, a number, a refusal, a failure in either kind of window.
    const all = Array.from({ length: 3_000 }, async (_, index) => {
      const over = { instance: `instance-${index}`, window: consecutive, owner: 'me' }
      await circuits.record(name, fence, tally(1, { failures: 1 }), terms(over))
      return circuits.record(
        name,
        fence,
        tally(2, { failures: 1 }),
        terms({ ...over, window: { kind: 'time', ms: 60_000 } }),
      )
    })
    const answers = await Promise.all(all)
    expect(answers.at(-1)?.snapshot.fleet).toBe(1_024)
    expect(answers.at(-1)?.counters.reporters).toBe(1_024)
    const open = await swap(store, name, 'open', { cooldownMs: 60_000 })
    const early = Array.from({ length: 3_000 }, (_, index) =>
      circuits.compareAndSet(
        name,
        'open',
        'half-open',
        open.snapshot.fence,
        terms({ instance: `instance-${index}`, owner: 'me' }),
      ),
    )
    expect((await Promise.all(early)).some(({ ok }) => ok)).toBe(false)
    for (let index = 0; index < 3_000; index += 500) {
      await circuits.record(
        name,
        open.snapshot.fence,
        tally(3, { failures: 1 }),
        terms({ instance: `instance-${index}` }),
      )
    }
    const sizes = await sizesOf(name)
    expect(sizes.instances).toBe(1_024)
    expect(sizes.numbers).toBeLessThanOrEqual(2 * 1_024)
  })

  it('remembers those whose failures are the latest', async () => {
    const name = fresh()
    const { fence } = await circuits.readState(name, terms())
    const all = Array.from({ length: 3_000 }, (_, index) =>
      circuits.record(name, fence, tally(1, { failures: 1 }), terms({ instance: `instance-${index}` })),
    )
    await Promise.all(all)
    const sizes = await sizesOf(name)
    expect([sizes.failed, sizes.failing]).toEqual([1_024, 1_024])
    expect(await server.command('ZSCORE', `tidegate:{${name}}:failed`, 'instance-2999')).not.toBeNull()
    expect(await server.command('ZSCORE', `tidegate:{${name}}:failed`, 'instance-0')).toBeNull()
  })
})

describe('a circuit of very many windows', () => {
  it('counts in the four that were asked for last', async () => {
    const name = fresh()
    const { fence } = await circuits.readState(name, terms())
    let seq = 0
    const count = async (ms: number, failures: number): Promise<number> => {
      const window = { kind: 'time', ms } as const
      return (await circuits.record(name, fence, tally(++seq, { failures }), terms({ window }))).counters
        .failures
    }
    for (let n = 1; n <= 50; n++) await count(60_000 + n, 1)
    const fields = (await server.command('HKEYS', `tidegate:{${name}}:counts`)) as string[]
    const windows = ['w60047', 'w60048', 'w60049', 'w60050']
    expect(fields.sort()).toEqual(['failures', 'run', 'slow', 'successes', ...windows, 'windows'])
    // Each counts everything since it was first asked for, and the oldest makes room.
    expect(await count(60_047, 0)).toBe(4)
    expect(await count(60_060, 1)).toBe(1)
    expect(await count(60_048, 0)).toBe(0)
  })

  it('drops the buckets that a window has left behind', async () => {
    const name = fresh()
    const { fence } = await circuits.readState(name, terms())
    const window = { kind: 'time', ms: 20 } as const
    for (let seq = 1; seq <= 300; seq++)
      await circuits.record(name, fence, tally(seq, { failures: 1 }), terms({ window }))
    const packed = String(await server.command('HGET', `tidegate:{${name}}:counts`, 'w20'))
    expect(packed.split(' ').length).toBeLessThanOrEqual(4 * 10)
  })
})

/** Counts in windows of each kind, from two instances, and has a swap refused. */
async function records(name: string): Promise<void> {
  const { fence, state } = await circuits.readState(name, terms())
  const seq = Date.now()
  for (const instance of ['here', 'there']) {
    await circuits.record(name, fence, tally(seq, { failures: 1 }), terms({ instance }))
    await circuits.record(
      name,
      fence,
      tally(seq + 1, { failures: 1 }),
      terms({ instance, window: { kind: 'consecutive' } }),
    )
  }
  if (state === 'half-open') {
    await circuits.compareAndSet(name, 'half-open', 'half-open', fence, terms({ owner: 'another' }))
  }
}

async function ttlsOf(pattern: string): Promise<ReadonlyMap<string, number>> {
  const keys = (await server.command('KEYS', pattern)) as string[]
  return new Map(
    await Promise.all(keys.map(async (key) => [key, Number(await server.command('PTTL', key))] as const)),
  )
}

async function sizesOf(
  name: string,
): Promise<Readonly<Record<'instances' | 'numbers' | 'failed' | 'failing', number>>> {
  const size = async (command: string, part: string): Promise<number> =>
    Number(await server.command(command, `tidegate:{${name}}:${part}`))
  return {
    instances: await size('ZCARD', 'instances'),
    numbers: await size('HLEN', 'numbers'),
    failed: await size('ZCARD', 'failed'),
    failing: await size('SCARD', 'failing'),
  }
}

/** A cooldown of a millisecond has yet to pass. */
async function soon(attempt: () => Promise<{ ok: boolean }>): Promise<void> {
  while (!(await attempt()).ok);
}
