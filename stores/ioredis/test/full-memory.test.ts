import type { CircuitState } from '@tidegate/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { ioredisStore } from '../src'
import { fresh, swap, tally, terms } from './support/caller'
import { client } from './support/clients'
import { dumpOf } from './support/dump'
import { ALGORITHMS, quota } from './support/quotas'

const server = await startRedis({ config: { 'maxmemory-policy': 'noeviction' } })
afterAll(() => server.stop())

const store = ioredisStore(client(6, server))
const { circuits, limits, leases, cache } = store

/** Nothing fits in any more. What is there stays. */
const fill = (): Promise<unknown> => server.command('CONFIG', 'SET', 'maxmemory', 1)
const empty = (): Promise<unknown> => server.command('CONFIG', 'SET', 'maxmemory', 0)

beforeAll(async () => {
  // As in a process that has been at work: the scripts are known.
  await swap(store, 'a', 'open')
  await circuits.record('a', (await circuits.readState('a', terms())).fence, tally(1), terms())
})
beforeEach(async () => {
  await empty()
  await server.command('FLUSHALL')
})

describe('a server whose memory is full', () => {
  const ways: CircuitState[][] = [['closed'], ['open'], ['open', 'half-open'], ['isolated']]
  for (const way of ways) {
    const state = way.at(-1) as CircuitState

    it(`refuses every command on a circuit that is ${state}, and nothing is half done`, async () => {
      const name = fresh()
      await circuits.readState(name, terms())
      for (const to of way) if (to !== 'closed') await soon(() => swap(store, name, to, { owner: 'me' }))
      const { fence } = await circuits.readState(name, terms())
      await circuits.record(name, fence, tally(2, { failures: 2 }), terms())
      const before = await dumpOf(server)
      await fill()
      const over = terms({ owner: 'me', instance: 'another', yield: true })
      const commands = [
        () => circuits.readState(name, over),
        () => circuits.record(name, fence, tally(3, { failures: 1 }), over),
        ...(['closed', 'open', 'half-open', 'isolated'] as const).map(
          (to) => () => circuits.compareAndSet(name, state, to, fence, over),
        ),
      ]
      for (const command of commands) await expect(command()).rejects.toThrow('OOM')
      expect(await dumpOf(server)).toEqual(before)

      await empty()
      const { counters } = await circuits.record(name, fence, tally(3, { failures: 1 }), over)
      expect(counters.failures).toBe(3)
      const to = state === 'closed' ? 'open' : 'closed'
      expect((await circuits.compareAndSet(name, state, to, fence, over)).ok).toBe(true)
    })
  }

  it('refuses what would change limits, and nothing is half done', async () => {
    const quotas = ALGORITHMS.map((algorithm) => quota({ name: algorithm, algorithm }))
    await limits.consume('a', quotas, 1)
    const apart = await limits.consume('a', quotas, 1)
    await limits.settle('a', quotas, apart.reservation, 1)
    const { reservation } = await limits.consume('a', quotas, 1)
    const before = await dumpOf(server)
    await fill()
    await expect(limits.consume('a', quotas, 1)).rejects.toThrow('OOM')
    await expect(limits.consume('a', quotas, 9)).rejects.toThrow('OOM')
    await expect(limits.consume('b', quotas, 1)).rejects.toThrow('OOM')
    await expect(limits.settle('a', quotas, reservation, 0)).rejects.toThrow('OOM')
    expect(await dumpOf(server)).toEqual(before)
    expect((await limits.peek('a', quotas)).allowed).toBe(true)
    await empty()
    await limits.settle('a', quotas, reservation, 0)
    expect(
      (await limits.peek('a', [quota({ name: 'fixed-window', algorithm: 'fixed-window' })])).quotas,
    ).toEqual([expect.objectContaining({ remaining: 8 })])
    await fill()
    await limits.reset('a')
    expect(await dumpOf(server)).toEqual({})
  })

  it('refuses what would take slots, and nothing is half done, but gives them back', async () => {
    const request = { owner: 'me', limit: 2, leaseMs: 60_000 }
    const { fence } = await leases.acquire('a', request)
    const other = await leases.acquire('a', { ...request, owner: 'another' })
    // One that ran out, and that the next command would drop.
    await leases.acquire('a', { ...request, owner: 'lapsed', limit: 3, leaseMs: 1 })
    await new Promise((resolve) => setTimeout(resolve, 10))
    const before = await dumpOf(server)
    await fill()
    for (const owner of ['me', 'third']) {
      await expect(leases.acquire('a', { ...request, owner })).rejects.toThrow('OOM')
      await expect(leases.acquire('b', { ...request, owner })).rejects.toThrow('OOM')
      await expect(leases.renew('a', owner, fence, 60_000)).rejects.toThrow('OOM')
    }
    await expect(leases.release('a', 'third', fence)).rejects.toThrow('OOM')
    expect(await dumpOf(server)).toEqual(before)
    await leases.release('a', 'me', fence)
    await empty()
    expect(await leases.renew('a', 'another', other.fence, 60_000)).toBe(true)
    expect(await leases.acquire('a', { ...request, owner: 'third' })).toMatchObject({ ok: true, inUse: 2 })
  })

  it('keeps no more answers, and those that it has', async () => {
    await cache.set('a', 'value', { ttlMs: 60_000 })
    await fill()
    await expect(cache.set('a', 'other', { ttlMs: 60_000 })).rejects.toThrow('OOM')
    expect((await cache.get('a'))?.value).toBe('value')
    await cache.delete('a')
    expect(await dumpOf(server)).toEqual({})
  })

  it('creates nothing', async () => {
    await fill()
    await expect(circuits.readState(fresh(), terms())).rejects.toThrow('OOM')
    await expect(circuits.record(fresh(), '1764560000000000.n', tally(1), terms())).rejects.toThrow('OOM')
    expect(await dumpOf(server)).toEqual({})
  })

  it('forgets all the same, which makes room', async () => {
    const name = fresh()
    await circuits.readState(name, terms())
    await fill()
    await circuits.forget(name)
    expect(await dumpOf(server)).toEqual({})
  })
})

/** A cooldown or a lease of a millisecond has yet to pass. */
async function soon<Answer extends { readonly ok: boolean }>(
  attempt: () => Answer | Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    const answer = await attempt()
    if (answer.ok) return answer
  }
}
