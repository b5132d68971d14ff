import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { ioredisStore } from '../src'
import { client } from './support/clients'
import { HOSTILE } from './support/names'
import { setClock } from './support/set-clock'
import { persistAll, ttlsOf } from './support/ttls'

const server = await startRedis()
afterAll(() => server.stop())

const clock = setClock(server)
const cache = clock.storeOver(client(6, server)).cache
beforeEach(() => clock.flush())

const ttlMs = 60_000
const HOUR = 3_600_000

describe('a value', () => {
  const values = [
    '',
    ' ',
    'null',
    'true',
    '42',
    '0.1e5',
    '"text"',
    '{"a":[1,{"b":"c"}]}',
    '=',
    '12 34 56',
    'a\0b\r\nc',
    'é 日本 😀 \u2028',
    'x'.repeat(4 * 2 ** 20),
  ]
  for (const version of [5, 6] as const) {
    it(`is the text that was set, whatever it looks like, by ioredis ${version}`, async () => {
      const { cache } = ioredisStore(client(version, server, { stringNumbers: version === 5 }))
      for (const value of values) {
        await cache.set('a', value, { ttlMs })
        expect((await cache.get('a'))?.value === value, value.slice(0, 20)).toBe(true)
      }
    })
  }

  it('is the last that was set, and gone when it was deleted', async () => {
    expect(await cache.get('a')).toBeUndefined()
    await cache.set('a', 'first', { ttlMs })
    await cache.set('a', 'second', { ttlMs })
    expect((await cache.get('a'))?.value).toBe('second')
    await cache.delete('a')
    expect(await cache.get('a')).toBeUndefined()
    await cache.delete('a')
  })

  it('has an age by the server’s clock, and is gone at its time', async () => {
    await cache.set('a', 'value', { ttlMs })
    await clock.leap(10_000)
    const { ageMs = 0 } = (await cache.get('a')) ?? {}
    expect(ageMs).toBeGreaterThanOrEqual(10_000)
    expect(ageMs).toBeLessThan(11_000)
    await clock.leap(50_000)
    expect(await cache.get('a')).toBeUndefined()
  })

  it('is of no age below 0 where the clock was set back', async () => {
    await cache.set('a', 'value', { ttlMs })
    await clock.step(-HOUR)
    expect(await cache.get('a')).toEqual({ value: 'value', ageMs: 0 })
  })

  it('loses halves of surrogate pairs', async () => {
    await cache.set('a', 'a\ud83db', { ttlMs })
    expect((await cache.get('a'))?.value).toBe('a\ufffdb')
  })

  it('of a key is none of any other, whatever is in its name', async () => {
    for (const [index, key] of HOSTILE.entries()) await cache.set(key, String(index), { ttlMs })
    for (const [index, key] of HOSTILE.entries()) {
      expect((await cache.get(key))?.value).toBe(String(index))
    }
  })
})

describe('what the cache leaves behind', () => {
  it('expires at its time, however long', async () => {
    await cache.set('a', 'value', { ttlMs })
    await cache.set('b', 'value', { ttlMs: Number.MAX_SAFE_INTEGER })
    const ttls = await ttlsOf(server, 'tidegate:*')
    expect(ttls.get('tidegate:{a}:cache')).toBeGreaterThan(ttlMs - 1_000)
    expect(ttls.get('tidegate:{a}:cache')).toBeLessThanOrEqual(ttlMs)
    expect(ttls.get('tidegate:{b}:cache')).toBeGreaterThan(1e15)
    expect((await cache.get('b'))?.value).toBe('value')
  })

  it('is gone at its time also where its expiry was lost, and expires again when it is set', async () => {
    await cache.set('a', 'value', { ttlMs })
    await persistAll(server)
    await clock.leap(ttlMs)
    expect(await cache.get('a')).toBeUndefined()
    await cache.set('a', 'value', { ttlMs })
    expect((await ttlsOf(server, 'tidegate:*')).get('tidegate:{a}:cache')).toBeGreaterThan(0)
  })

  it('is refused with a code where somebody else wrote it', async () => {
    for (const theirs of ['', 'theirs', '12', '12 ', '{"a":1}']) {
      await server.command('SET', 'tidegate:{a}:cache', theirs)
      await expect(cache.get('a')).rejects.toMatchObject({ code: 'STORE_UNREADABLE' })
    }
    await cache.set('a', 'ours', { ttlMs })
    expect((await cache.get('a'))?.value).toBe('ours')
  })
})
