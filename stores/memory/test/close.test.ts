import { expect, it } from 'vitest'
import { memoryStore } from '../src'
import { cacheOf, leasesOf, limitsOf } from './support/parts'

it('lets go of what its limits, leases and cache hold once it is closed', async () => {
  const store = memoryStore({ maxKeys: 1 })
  const quotas = [{ name: 'q', algorithm: 'gcra', limit: 1, windowMs: 60_000 }] as const
  const request = { owner: 'a', limit: 1, leaseMs: 60_000 }
  limitsOf(store).consume('key', quotas, 1)
  leasesOf(store).acquire('name', request)
  cacheOf(store).set('key', 'value', { ttlMs: 60_000 })
  await store.close()
  expect(cacheOf(store).get('key')).toBeUndefined()
  expect(limitsOf(store).consume('key', quotas, 1).allowed).toBe(true)
  // And their room is free: the one name that may be held was another.
  expect(leasesOf(store).acquire('other', { ...request, owner: 'b' }).ok).toBe(true)
})
