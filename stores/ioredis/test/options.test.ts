import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { type IoredisStoreOptions, ioredisStore, type RedisClient } from '../src'

// Lazy, and never used: nothing here sends anything.
const redis = new Redis({ lazyConnect: true })
const other = new Redis({ lazyConnect: true })

describe('options', () => {
  const wrong: [object, string][] = [
    [{ prefix: '' }, "prefix must be a string without braces and blanks, and not empty, got ''"],
    [{ prefix: 'a{b}' }, "prefix must be a string without braces and blanks, and not empty, got 'a{b}'"],
    [{ prefix: 'a b' }, 'prefix must be'],
    [{ prefix: 'a\n' }, 'prefix must be'],
    [{ prefix: 5 }, 'prefix must be a string without braces and blanks, and not empty, got 5'],
    [{ prefix: null }, 'prefix must be'],
    [{ subscriber: {} }, 'subscriber must be a client of ioredis, got an object'],
    [{ subscriber: null }, 'subscriber must be a client of ioredis, got null'],
    [{ subscriber: true }, 'subscriber must be a client of ioredis, got true'],
    [{ subscriber: redis }, 'subscriber must be another client'],
    [{ perfix: 'a' }, 'there is no option perfix; there are prefix, subscriber'],
  ]
  for (const [options, message] of wrong) {
    it(`refuses ${Object.keys(options)} ${'prefix' in options ? JSON.stringify(options.prefix) : ''}: ${message}`, () => {
      const build = (): unknown => ioredisStore(redis, options as IoredisStoreOptions)
      expect(build).toThrow(TypeError)
      expect(build).toThrow(`ioredisStore: ${message}`)
    })
  }

  const noClients: [unknown, string][] = [
    [undefined, 'undefined'],
    [null, 'null'],
    ['redis://localhost', "'redis://localhost'"],
    [{}, 'an object'],
    [{ evalsha() {}, eval() {} }, 'an object'],
    [{ evalsha() {}, eval() {}, ping() {}, duplicate() {} }, 'an object'],
  ]
  for (const [client, got] of noClients) {
    it(`refuses ${got} for a client`, () => {
      const build = (): unknown => ioredisStore(client as RedisClient)
      expect(build).toThrow(TypeError)
      expect(build).toThrow(`redis must be a client of ioredis, a Redis or a Cluster, got ${got}`)
    })
  }

  it('may be left out, and be undefined', () => {
    expect(() => [
      ioredisStore(redis),
      ioredisStore(redis, {}),
      ioredisStore(redis, { prefix: undefined, subscriber: undefined }),
      ioredisStore(redis, { prefix: 'my-app:v2', subscriber: other }),
    ]).not.toThrow()
  })

  it('says what the store can do', () => {
    expect(ioredisStore(redis).supports).toEqual({
      windows: ['time', 'consecutive'],
      push: true,
      shared: true,
    })
  })
})
