import { afterAll, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { ioredisStore } from '../src'
import { fresh, tally, terms } from './support/caller'
import { client } from './support/clients'

const server = await startRedis()
afterAll(() => server.stop())

const { circuits } = ioredisStore(client(6, server))
const consecutive = { kind: 'consecutive' } as const

/** A circuit with failures of two instances in either window, and then without one of its keys, as by eviction. */
async function without(part: string): Promise<{ name: string; fence: string }> {
  const name = fresh()
  const { fence } = await circuits.readState(name, terms({ instance: 'here' }))
  await circuits.record(name, fence, tally(1, { failures: 2 }), terms({ instance: 'here' }))
  await circuits.record(name, fence, tally(1, { failures: 2 }), terms({ instance: 'there' }))
  expect(await server.command('DEL', `tidegate:{${name}}:${part}`)).toBe(1)
  return { name, fence }
}

describe('a circuit of which one key was evicted', () => {
  it('begins anew without its own, and with nothing counted', async () => {
    const { name, fence } = await without('circuit')
    const created = await circuits.readState(name, terms())
    expect(created.fence > fence).toBe(true)
    for (const window of [terms().window, consecutive]) {
      const { counters } = await circuits.record(name, created.fence, tally(1), terms({ window }))
      expect(counters).toEqual({ successes: 0, failures: 0, slow: 0, consecutiveFailures: 0, reporters: 0 })
    }
  })

  it('stays as it is without its counts, which begin anew', async () => {
    const { name, fence } = await without('counts')
    const { counted, snapshot, counters } = await circuits.record(
      name,
      fence,
      tally(1, { failures: 1 }),
      terms(),
    )
    expect([counted, snapshot.fence, counters.failures]).toEqual([true, fence, 1])
  })

  it('stays as it is without its instances, who are counted as they come', async () => {
    const { name, fence } = await without('instances')
    expect(await circuits.readState(name, terms())).toMatchObject({ state: 'closed', fence, fleet: 1 })
  })

  for (const part of ['failed', 'failing']) {
    it(`stays as it is, and keeps its counts, without ${part}`, async () => {
      const { name, fence } = await without(part)
      const { counters, snapshot } = await circuits.record(name, fence, tally(1, { failures: 1 }), terms())
      expect(snapshot.fence).toBe(fence)
      expect(counters).toMatchObject({ failures: 5, consecutiveFailures: 5 })
    })
  }

  it('stays as it is, and keeps its counts, without its numbers', async () => {
    const { name, fence } = await without('numbers')
    const { counters } = await circuits.record(
      name,
      fence,
      tally(2, { failures: 1 }),
      terms({ instance: 'here' }),
    )
    expect(counters).toMatchObject({ failures: 5, consecutiveFailures: 5, reporters: 2 })
  })
})
