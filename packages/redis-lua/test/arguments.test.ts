import type { LeaseRequest, Quota } from '@tidegate/contract'
import { describe, expect, it } from 'vitest'
import { partsBy } from './support/parts'

const sent: string[] = []
const { limits, leases, cache } = partsBy(async ({ name }) => sent.push(name))
const quota: Quota = { name: 'q', algorithm: 'gcra', limit: 5, windowMs: 1_000 }
const fence = '1764560000000000.me'

/** Rejects with this, and has sent nothing. */
async function isRefused(command: Promise<unknown>, message: string): Promise<void> {
  await expect(command).rejects.toThrow(TypeError)
  await expect(command).rejects.toThrow(message)
  expect(sent).toEqual([])
}

describe('a command on limits', () => {
  it('without a key is refused before it is sent', async () => {
    await isRefused(limits.consume('', [quota], 1), 'key must be')
    await isRefused(limits.peek('', [quota]), 'key must be')
    await isRefused(limits.settle('', [quota], '', 1), 'key must be')
    await isRefused(limits.reset(''), 'key must be')
  })

  it('with other quotas is refused before it is sent', async () => {
    for (const quotas of [[], [quota, quota], [{ ...quota, limit: 0.5 }]]) {
      await isRefused(limits.consume('a', quotas, 1), 'quotas')
      await isRefused(limits.peek('a', quotas), 'quotas')
      await isRefused(limits.settle('a', quotas, '', 1), 'quotas')
    }
  })

  it('with another cost is refused before it is sent', async () => {
    for (const cost of [-1, 0.5, Number.NaN, Number.MAX_SAFE_INTEGER]) {
      await isRefused(limits.consume('a', [quota], cost), 'cost must be')
      await isRefused(limits.settle('a', [quota], '', cost), 'cost must be')
    }
  })

  it('is not sent where there is no reservation to be settled', async () => {
    for (const none of ['', 'a', '1.2.3', '1.2.3.-4', '1.2.3.4 ']) await limits.settle('a', [quota], none, 1)
    expect(sent).toEqual([])
  })
})

describe('a command on leases', () => {
  const request: LeaseRequest = { owner: 'me', limit: 1, leaseMs: 1_000 }

  it('without a name is refused before it is sent', async () => {
    await isRefused(leases.acquire('', request), 'name must be')
    await isRefused(leases.renew('', 'me', fence, 1), 'name must be')
    await isRefused(leases.release('', 'me', fence), 'name must be')
  })

  it('with another request is refused before it is sent', async () => {
    await isRefused(leases.acquire('a', { ...request, owner: '.latest' }), 'owner must be')
    await isRefused(leases.acquire('a', { ...request, limit: 0 }), 'limit must be')
    await isRefused(leases.acquire('a', { ...request, leaseMs: 1.5 }), 'leaseMs must be')
    await isRefused(leases.renew('a', 'a b', fence, 1), 'owner must be')
    await isRefused(leases.renew('a', 'me', 'fence', 1), 'fence must be')
    await isRefused(leases.renew('a', 'me', fence, 0), 'leaseMs must be')
    await isRefused(leases.release('a', '', fence), 'owner must be')
    await isRefused(leases.release('a', 'me', ''), 'fence must be')
  })
})

describe('a command on the cache', () => {
  it('with another key, value or time is refused before it is sent', async () => {
    await isRefused(cache.get(''), 'key must be')
    await isRefused(cache.delete(''), 'key must be')
    await isRefused(cache.set('', '', { ttlMs: 1 }), 'key must be')
    await isRefused(cache.set('a', 5 as unknown as string, { ttlMs: 1 }), 'value must be')
    await isRefused(cache.set('a', '', { ttlMs: 0 }), 'ttlMs must be')
  })
})
