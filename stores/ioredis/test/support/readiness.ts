import { expect, it } from 'vitest'
import { until } from '../../../../test/support/until'
import { ioredisStore } from '../../src'
import type { Client, ClusterClient, Options } from './clients'

/** What `ready` says of a client of any kind. */
export function itIsOf(kind: string, make: (options: Options) => Client | ClusterClient): void {
  it(`is true while ${kind} has yet to be used, and once it is connected`, async () => {
    const redis = make({ lazyConnect: true })
    const store = ioredisStore(redis)
    expect([redis.status, store.ready?.()]).toEqual(['wait', true])
    const connected = redis.connect()
    expect([redis.status, store.ready?.()]).toEqual(['connecting', false])
    await connected
    expect([redis.status, store.ready?.()]).toEqual(['ready', true])
  })

  it(`is false once ${kind} was closed`, async () => {
    const redis = make({ lazyConnect: true })
    const store = ioredisStore(redis)
    await redis.connect()
    redis.disconnect()
    await until('the connection to be closed', () => redis.status !== 'ready')
    expect(store.ready?.()).toBe(false)
  })
}
