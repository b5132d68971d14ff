import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../until'
import { type RedisServer, startRedis } from './index'

async function pidOf(redis: RedisServer): Promise<number> {
  return Number(/process_id:(\d+)/.exec(String(await redis.command('INFO', 'server')))?.[1])
}

async function setting(redis: RedisServer, name: string): Promise<string | undefined> {
  const [, value] = (await redis.command('CONFIG', 'GET', name)) as string[]
  return value
}

describe('a Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  test('answers, on 127.0.0.1 and from memory only', async () => {
    expect(await redis.command('PING')).toBe('PONG')
    expect(redis.url).toBe(`redis://127.0.0.1:${redis.port}`)
    expect(redis.state).toBe('running')
    expect(await setting(redis, 'bind')).toBe('127.0.0.1')
    expect(await setting(redis, 'save')).toBe('')
    expect(await setting(redis, 'appendonly')).toBe('no')
  })

  test('gives replies of every kind as values', async () => {
    await redis.command('DEL', 'list')
    expect(await redis.command('RPUSH', 'list', 'a', '', 'ä\r\n')).toBe(3)
    expect(await redis.command('LRANGE', 'list', 0, -1)).toEqual(['a', '', 'ä\r\n'])
    expect(await redis.command('GET', 'nothing')).toBe(null)
    expect(await redis.command('EVAL', 'return { 1, { "b" }, false }', 0)).toEqual([1, ['b'], null])
  })

  test('rejects what Redis refuses, by its code, and goes on', async () => {
    const refused = redis.command('LPUSH', 'list')
    const next = redis.command('ECHO', 'next')
    await expect(refused).rejects.toMatchObject({ name: 'ReplyError', code: 'ERR' })
    expect(await next).toBe('next')
  })

  test('opens its connection again when that was closed', async () => {
    await expect(redis.command('QUIT')).resolves.toBe('OK')
    await until('the connection to be opened again', () =>
      redis.command('PING').then(
        () => true,
        () => false,
      ),
    )
  })

  test('stands still while frozen, and then does what it was sent', async () => {
    await redis.command('DEL', 'n')
    await redis.freeze()
    expect(redis.state).toBe('frozen')
    let answered = false
    const late = redis.command('INCR', 'n').finally(() => {
      answered = true
    })
    // The system still accepts connections for it.
    const socket = connect(redis.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
    expect(answered).toBe(false)
    redis.thaw()
    expect(await late).toBe(1)
  })

  test('rejects what a killed server did not answer, and comes back on its port, empty', async () => {
    const { port } = redis
    await redis.command('SET', 'kept', 'no')
    const before = await pidOf(redis)
    await redis.freeze()
    const unanswered = expect(redis.command('PING')).rejects.toThrow()
    await redis.kill()
    await unanswered
    expect(redis.state).toBe('down')
    await expect(redis.command('PING')).rejects.toMatchObject({ code: 'ECONNREFUSED' })

    await redis.start({ maxmemory: '11mb' })
    expect(redis.port).toBe(port)
    expect(await pidOf(redis)).not.toBe(before)
    expect(await redis.command('GET', 'kept')).toBe(null)

    await redis.restart()
    expect(await setting(redis, 'maxmemory')).toBe(String(11 * 1024 * 1024))
  })

  test('is down when it ended by itself, and starts again', async () => {
    await expect(redis.command('SHUTDOWN', 'NOSAVE')).rejects.toThrow()
    await until('the server to be down', () => redis.state === 'down')
    await redis.start()
    expect(await redis.command('PING')).toBe('PONG')
  })
})

test('takes configuration as it is written in redis.conf', async () => {
  await using redis = await startRedis({
    config: {
      maxmemory: '20mb',
      'maxmemory-policy': 'allkeys-lru',
      'client-output-buffer-limit': 'pubsub 1mb 1mb 7',
      user: ['ada on nopass ~* &* +@all', 'bob on nopass ~* &* +get'],
    },
  })
  expect(await setting(redis, 'maxmemory-policy')).toBe('allkeys-lru')
  expect(await setting(redis, 'client-output-buffer-limit')).toContain('pubsub 1048576 1048576 7')
  expect(await redis.command('ACL', 'USERS')).toEqual(expect.arrayContaining(['ada', 'bob']))
})

test('says what Redis said when it does not start', async () => {
  await expect(startRedis({ config: { 'no-such-directive': 'yes' } })).rejects.toThrow(/Bad directive/)
})

test('stops for good, frozen or not, as often as asked, and leaves no folder', async () => {
  const redis = await startRedis()
  const folder = (await setting(redis, 'dir')) ?? ''
  expect(existsSync(folder)).toBe(true)
  await redis.freeze()
  await redis.stop()
  await redis.stop()
  expect(redis.state).toBe('stopped')
  expect(existsSync(folder)).toBe(false)
  await expect(redis.start()).rejects.toThrow('stopped')
})

test('starts many at once, each on a port of its own', async () => {
  const all = await Promise.all(Array.from({ length: 6 }, () => startRedis()))
  try {
    expect(new Set(all.map(({ port }) => port)).size).toBe(6)
    expect(new Set(await Promise.all(all.map(pidOf))).size).toBe(6)
  } finally {
    await Promise.all(all.map((redis) => redis.stop()))
  }
})
