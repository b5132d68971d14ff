import { afterAll, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { ioredisStore } from '../src'
import { fresh, tally, terms } from './support/caller'
import { client } from './support/clients'
import { commandsOf } from './support/connections'

const server = await startRedis()
afterAll(() => server.stop())

for (const version of [5, 6] as const) {
  describe(`a server that lost its scripts, by ioredis ${version}`, () => {
    const { circuits } = ioredisStore(client(version, server))
    const lose = (): Promise<unknown> => server.command('SCRIPT', 'FLUSH')

    it('answers the same call, and nothing is lost or done twice', async () => {
      const name = fresh()
      const { fence } = await circuits.readState(name, terms())
      for (let seq = 1; seq <= 3; seq++) {
        await lose()
        const { counted, counters } = await circuits.record(name, fence, tally(seq, { failures: 2 }), terms())
        expect([counted, counters.failures]).toEqual([true, 2 * seq])
      }
      await lose()
      const trip = await circuits.compareAndSet(name, 'closed', 'open', fence, terms())
      expect([trip.ok, trip.snapshot.trips]).toEqual([true, 1])
      await lose()
      expect((await circuits.readState(name, terms())).fence).toBe(trip.snapshot.fence)
      await lose()
      await circuits.forget(name)
      expect(await server.command('EXISTS', `tidegate:{${name}}:circuit`)).toBe(0)
    })

    it('loses nothing of many who ask at once', async () => {
      const name = fresh()
      const { fence } = await circuits.readState(name, terms())
      await lose()
      const tallies = Array.from({ length: 20 }, (_, index) =>
        circuits.record(name, fence, tally(1, { failures: 1 }), terms({ instance: `instance-${index}` })),
      )
      const answers = await Promise.all(tallies)
      expect(Math.max(...answers.map(({ counters }) => counters.failures))).toBe(20)
    })

    it('is told them for no other error', async () => {
      await circuits.readState(fresh(), terms())
      await server.command('CONFIG', 'RESETSTAT')
      await server.command('SET', 'tidegate:{taken}:circuit', 'by somebody')
      await expect(circuits.readState('taken', terms())).rejects.toThrow('WRONGTYPE')
      expect((await commandsOf(server)).has('eval')).toBe(false)
    })
  })
}
