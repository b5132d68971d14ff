import type { CircuitState } from '@tidegate/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { ioredisStore } from '../src'
import { fresh, swap, tally, terms } from './support/caller'
import { client } from './support/clients'
import { dumpOf } from './support/dump'

const server = await startRedis({ config: { 'maxmemory-policy': 'noeviction' } })
afterAll(() => server.stop())

const store = ioredisStore(client(6, server))
const { circuits } = store

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

/** A cooldown of a millisecond has yet to pass. */
async function soon(attempt: () => Promise<{ ok: boolean }>): Promise<void> {
  while (!(await attempt()).ok);
}
