import { afterAll, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { ioredisStore } from '../src'
import { fresh, tally, terms } from './support/caller'
import { client } from './support/clients'

const server = await startRedis()
afterAll(() => server.stop())

const { circuits } = ioredisStore(client(6, server))

describe('a fence that is the present one but for a part', () => {
  // As after a failover that lost a swap, when another one was won in the same microsecond.
  const others: [string, (digits: string, nonce: string) => string][] = [
    ['the nonce', (digits) => `${digits}.another`],
    ['the ~ of who came by', (digits, nonce) => `${digits}.${nonce.slice(1)}`],
    ['the last digit', (digits, nonce) => `${Number(digits) + 1}.${nonce}`],
  ]
  for (const [part, make] of others) {
    it(`names another period, where that is ${part}`, async () => {
      const name = fresh()
      const { fence } = await circuits.readState(name, terms())
      const [digits = '', nonce = ''] = fence.split('.')
      const other = make(digits, nonce)
      expect(other).not.toBe(fence)
      const swap = await circuits.compareAndSet(name, 'closed', 'open', other, terms())
      expect([swap.ok, swap.snapshot.fence]).toEqual([false, fence])
      const { counted, counters } = await circuits.record(name, other, tally(1, { failures: 3 }), terms())
      expect([counted, counters.failures]).toEqual([false, 0])
    })
  }
})
