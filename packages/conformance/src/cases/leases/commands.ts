import type { LeaseRequest } from '@tidegate/contract'
import { refused, same } from '../../assertion'
import { type Group, test } from '../../case'
import { LeasedName } from '../../leased-name'

const REQUESTS: readonly Partial<Record<keyof LeaseRequest, unknown>>[] = [
  { owner: '' },
  { owner: 'a b' },
  { owner: 'a'.repeat(65) },
  { owner: 7 },
  { limit: 0 },
  { limit: 1.5 },
  { limit: Number.POSITIVE_INFINITY },
  { leaseMs: 0 },
  { leaseMs: 0.5 },
  { leaseMs: '1000' },
]

export const commands: Group = {
  title: 'What asks for no slot',
  cases: [
    test('refuses an acquisition that is none, and lends nothing', [], async (bench) => {
      const name = new LeasedName(bench)
      for (const request of REQUESTS) {
        await refused(() => name.acquire(request as Partial<LeaseRequest>), JSON.stringify(request))
      }
      same((await name.take()).inUse, 1, 'inUse')
    }),
    test('refuses a renewal for no time', [], async (bench) => {
      const name = new LeasedName(bench)
      const held = await name.take()
      for (const leaseMs of [0, -1, 0.5, Number.NaN]) {
        await refused(() => name.renew(held, leaseMs), `a renewal for ${leaseMs} ms`)
      }
      same(await name.renew(held), true, 'the slot is still held')
    }),
    test('refuses a name that is none', [], async (bench) => {
      const held = await new LeasedName(bench).take()
      const nameless = new LeasedName(bench, '')
      await refused(() => nameless.acquire(), 'an acquisition')
      await refused(() => nameless.renew(held), 'a renewal')
      await refused(() => nameless.release(held), 'a release')
    }),
  ],
}
