import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { ioredisStore } from '../src'
import { tally, terms } from './support/caller'
import { client } from './support/clients'
import { dumpOf } from './support/dump'

const server = await startRedis()
afterAll(() => server.stop())
beforeEach(() => server.command('FLUSHALL'))

const { circuits } = ioredisStore(client(6, server))
const PARTS = ['circuit', 'instances', 'numbers', 'counts', 'failed', 'failing']
const window = { kind: 'consecutive' } as const

describe('a key that somebody else has set', () => {
  it('at the name of a circuit makes each command reject, and is left as it is', async () => {
    await server.command('SET', 'tidegate:{a}:circuit', 'theirs')
    const before = await dumpOf(server)
    const fence = '1764560000000000.nonce'
    const commands = [
      () => circuits.readState('a', terms()),
      () => circuits.record('a', fence, tally(1, { failures: 1 }), terms()),
      () => circuits.compareAndSet('a', 'closed', 'open', fence, terms()),
    ]
    for (const command of commands) {
      await expect(command()).rejects.toThrow('WRONGTYPE')
      expect(await dumpOf(server)).toEqual(before)
    }
  })

  for (const part of PARTS) {
    it(`in place of ${part} takes nothing from what else is there, and nothing is lost once it is gone`, async () => {
      const { fence } = await circuits.readState('a', terms())
      const count = (seq: number, instance: string) =>
        circuits.record('a', fence, tally(seq, { failures: 1 }), terms({ instance, window }))
      await count(1, 'first')
      await count(1, 'second')
      const key = `tidegate:{a}:${part}`
      await server.command('RENAME', key, 'ours')
      await server.command('SET', key, 'theirs')
      await expect(count(1, 'third')).rejects.toThrow('WRONGTYPE')
      expect(await server.command('GET', key)).toBe('theirs')
      await server.command('RENAME', 'ours', key)
      // Delivered again, as its caller does who got an error.
      const { counted, counters } = await count(1, 'third')
      expect(counted).toBe(true)
      expect(counters).toMatchObject({ failures: 3, consecutiveFailures: 3, reporters: 3 })
    })
  }
})

describe('a circuit that somebody else has written to', () => {
  it('is refused with a code where its fields do not go together', async () => {
    await circuits.readState('a', terms())
    await server.command('HSET', 'tidegate:{a}:circuit', 'state', 'open')
    await expect(circuits.readState('a', terms())).rejects.toMatchObject({ code: 'STORE_UNREADABLE' })
  })

  it('is refused with a code where its state is none', async () => {
    await circuits.readState('a', terms())
    await server.command('HSET', 'tidegate:{a}:circuit', 'state', 'ajar')
    await expect(circuits.readState('a', terms())).rejects.toMatchObject({ code: 'STORE_UNREADABLE' })
  })

  it('can be forgotten, and is then another one', async () => {
    await server.command('HSET', 'tidegate:{a}:circuit', 'state', 'ajar')
    await circuits.forget('a')
    expect((await circuits.readState('a', terms())).state).toBe('closed')
  })
})
