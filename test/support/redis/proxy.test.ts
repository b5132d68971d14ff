import { once } from 'node:events'
import { connect } from 'node:net'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../until'
import { Connection } from './connection'
import { Frames } from './frames'
import { type RedisProxy, type RedisServer, startProxy, startRedis } from './index'
import { encodeRequest } from './resp'

let redis: RedisServer
let proxy: RedisProxy
let client: Connection
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis?.stop())
beforeEach(async () => {
  await redis.command('FLUSHALL')
  proxy = await startProxy(redis.port)
  client = new Connection(proxy.port)
})
afterEach(async () => {
  client.close()
  await proxy.stop()
})

/** Sends now; what becomes of it is looked at later. */
function send(...words: (string | number)[]): Promise<unknown> {
  const reply = client.send(words)
  reply.catch(() => {})
  return reply
}

async function seen(commands: number): Promise<void> {
  await until(`${commands} commands to be seen`, () => proxy.commandsSeen === commands)
}

test('passes commands and replies, and counts the commands', async () => {
  expect(proxy.url).toBe(`redis://127.0.0.1:${proxy.port}`)
  const replies = [send('SET', 'a', 'ä\r\n'), send('GET', 'a'), send('LPUSH', 'a'), send('PING')]
  expect(await replies[1]).toBe('ä\r\n')
  await expect(replies[2]).rejects.toMatchObject({ code: 'ERR' })
  expect(await replies[3]).toBe('PONG')
  expect(proxy.commandsSeen).toBe(4)
})

test('passes what is larger than any chunk', async () => {
  const large = 'x'.repeat(1_000_000)
  await send('SET', 'large', large)
  expect(await send('GET', 'large')).toBe(large)
})

test('ends a connection that the server ends, after its last reply, and the other way round', async () => {
  const socket = connect(proxy.port, '127.0.0.1')
  const said: string[] = []
  socket.on('data', (chunk) => said.push(String(chunk)))
  socket.write(encodeRequest(['QUIT']))
  await once(socket, 'close')
  expect(said.join('')).toBe('+OK\r\n')

  const own = connect(proxy.port, '127.0.0.1')
  own.end(encodeRequest(['SET', 'last', 'words']))
  await once(own.resume(), 'close')
  expect(await redis.command('GET', 'last')).toBe('words')
})

describe('a delay', () => {
  test.each([1, 4])('of %d ms is added to a round trip, half of it each way', async (delayMs) => {
    await send('PING')
    proxy.delayMs = delayMs
    for (let i = 0; i < 10; i++) {
      const sentAt = performance.now()
      const sentDate = Date.now()
      const [seconds, micros] = (await send('TIME')) as [string, string]
      expect(performance.now() - sentAt).toBeGreaterThanOrEqual(delayMs)
      // The clock of both, which here shows no fractions.
      const executedDate = Number(seconds) * 1_000 + Number(micros) / 1_000
      expect(executedDate - sentDate).toBeGreaterThanOrEqual(delayMs / 2)
      expect(Date.now() + 1 - executedDate).toBeGreaterThanOrEqual(delayMs / 2)
    }
  })

  test('keeps pipelined commands together: all are executed before the first reply arrives', async () => {
    proxy.delayMs = 20
    const replies = Array.from({ length: 20 }, () => send('INCR', 'n'))
    expect(await replies[0]).toBe(1)
    expect(await redis.command('GET', 'n')).toBe('20')
    expect(await Promise.all(replies)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
  })

  test('can change at any time, and nothing overtakes', async () => {
    proxy.delayMs = 30
    const first = send('RPUSH', 'list', 'slow')
    await seen(1)
    proxy.delayMs = 0
    await send('RPUSH', 'list', 'fast')
    await first
    expect(await redis.command('LRANGE', 'list', 0, -1)).toEqual(['slow', 'fast'])
  })
})

describe('cut', () => {
  test('ends connections and refuses new ones, until it is mended', async () => {
    await send('PING')
    const socket = connect(proxy.port, '127.0.0.1')
    await once(socket, 'connect')
    await Promise.all([once(socket.resume(), 'close'), proxy.cut()])
    client.close()
    await expect(send('PING')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await proxy.cut()
    await proxy.mend()
    await proxy.mend()
    expect(await send('PING')).toBe('PONG')
  })

  test('loses what is under way', async () => {
    proxy.mute()
    const lost = send('SET', 'a', 1)
    await seen(1)
    await proxy.cut()
    await expect(lost).rejects.toThrow()
    proxy.unmute()
    await proxy.mend()
    await send('PING')
    expect(await redis.command('GET', 'a')).toBe(null)
  })
})

describe('muted', () => {
  test('it forwards no command, until unmuted, and then all in order', async () => {
    await send('PING')
    proxy.mute()
    const replies = [send('RPUSH', 'list', 'a'), send('RPUSH', 'list', 'b')]
    await seen(3)
    expect(await redis.command('LLEN', 'list')).toBe(0)
    proxy.unmute()
    expect(await Promise.all(replies)).toEqual([1, 2])
    expect(await redis.command('LRANGE', 'list', 0, -1)).toEqual(['a', 'b'])
  })

  test('it forwards no reply either', async () => {
    let answered = false
    const reply = send('BLPOP', 'list', 0).finally(() => {
      answered = true
    })
    await until('the command to be executed', async () =>
      String(await redis.command('CLIENT', 'LIST')).includes('cmd=blpop'),
    )
    proxy.mute()
    await redis.command('RPUSH', 'list', 'a')
    // A round trip over the proxy's event loop; what Redis sent before has come by then.
    await redis.command('PING')
    expect(answered).toBe(false)
    proxy.unmute()
    expect(await reply).toEqual(['list', 'a'])
  })

  test('it accepts connections, and ends none', async () => {
    proxy.mute()
    const socket = connect(proxy.port, '127.0.0.1')
    await once(socket, 'connect')
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await redis.command('PING')
    expect(socket.closed).toBe(false)
    proxy.unmute()
    await once(socket.resume(), 'close')
  })
})

describe('a lost reply', () => {
  test('is of a command that was executed, and its connection ends', async () => {
    proxy.loseReplies(1)
    await expect(send('INCR', 'n')).rejects.toThrow('closed the connection')
    expect(await redis.command('GET', 'n')).toBe('1')
    expect(await send('INCR', 'n')).toBe(2)
  })

  test('is of the command that was meant, and earlier replies arrive', async () => {
    proxy.delayMs = 2
    proxy.loseReplies(1, 'evalsha')
    const sha = String(await send('SCRIPT', 'LOAD', "return redis.call('INCR', KEYS[1])"))
    const before = send('SET', 'a', 1)
    const lost = send('EVALSHA', sha, 1, 'n')
    await expect(lost).rejects.toThrow('closed the connection')
    expect(await before).toBe('OK')
    expect(await redis.command('GET', 'n')).toBe('1')
    expect(await send('EVALSHA', sha, 1, 'n')).toBe(2)
  })

  test('can be chosen by the words of its request, several times, and be taken back', async () => {
    proxy.loseReplies(3, ([command, key]) => command === 'INCR' && key === 'n')
    expect(await send('INCR', 'm')).toBe(1)
    await expect(send('INCR', 'n')).rejects.toThrow()
    await expect(send('incr', 'n')).rejects.toThrow()
    proxy.loseReplies(0)
    expect(await send('INCR', 'n')).toBe(3)
  })
})

describe('a repetition', () => {
  test('has a command executed twice, of which the client sees one', async () => {
    proxy.repeat(1, 'INCR')
    const replies = [send('SET', 'a', 1), send('INCR', 'n'), send('ECHO', 'next'), send('INCR', 'n')]
    expect(await Promise.all(replies)).toEqual(['OK', 2, 'next', 3])
    expect(proxy.commandsSeen).toBe(4)
  })

  test('can lose its reply as well', async () => {
    proxy.repeat(1)
    proxy.loseReplies(1)
    await expect(send('INCR', 'n')).rejects.toThrow()
    expect(await redis.command('GET', 'n')).toBe('2')
  })
})

describe('in RESP3', () => {
  test('a push answers no request', async () => {
    const socket = connect(proxy.port, '127.0.0.1')
    const frames = new Frames()
    const messages: string[] = []
    socket.on('data', (chunk) => messages.push(...frames.push(chunk).map(String)))
    const say = async (words: string[], replies: number) => {
      socket.write(encodeRequest(words))
      await until(`${replies} messages`, () => messages.length === replies)
      return messages.at(-1)
    }
    expect(await say(['HELLO', '3'], 1)).toMatch(/^%/)
    await say(['CLIENT', 'TRACKING', 'ON'], 2)
    await say(['GET', 'watched'], 3)
    await redis.command('SET', 'watched', 1)
    await until('the push', () => messages.length === 4)
    expect(messages[3]).toMatch(/^>2\r\n\$10\r\ninvalidate/)

    proxy.repeat(1, 'INCR')
    expect(await say(['INCR', 'n'], 5)).toBe(':2\r\n')
    socket.destroy()
  })
})

describe.each([2, 3] as const)('between ioredis and Redis, in RESP%d,', (protocol) => {
  let user: Redis
  beforeEach(async () => {
    user = new Redis(proxy.port, { protocol, retryStrategy: () => 5 })
    user.on('error', () => {})
    await user.ping()
  })
  afterEach(() => user.disconnect())

  test('replies find their requests, and the faults theirs', async () => {
    expect(await Promise.all([user.hset('h', 'f', 'v'), user.hgetall('h')])).toEqual([1, { f: 'v' }])
    proxy.repeat(1, 'INCR')
    expect(await user.incr('n')).toBe(2)
    expect(await user.multi().incr('n').exec()).toEqual([[null, 3]])
  })

  test('messages reach a subscriber, also after the link was cut', async () => {
    const subscriber = user.duplicate()
    subscriber.on('error', () => {})
    const heard: string[] = []
    subscriber.on('message', (_, message) => heard.push(message))
    try {
      expect(await subscriber.subscribe('news', 'more')).toBe(2)
      await redis.command('PUBLISH', 'news', 'one')
      await until('the first message', () => heard.length === 1)

      await proxy.cut()
      await proxy.mend()
      await until(
        'the subscriber to be back',
        async () => (await redis.command('PUBLISH', 'more', 'two')) === 1,
      )
      await until('the second message', () => heard.length === 2)
      expect(heard).toEqual(['one', 'two'])
    } finally {
      subscriber.disconnect()
    }
  })
})

test('refuses nothing itself when Redis is gone: it accepts, and ends the connection', async () => {
  await using other = await startRedis()
  await using toOther = await startProxy(other.port)
  await other.kill()
  const socket = connect(toOther.port, '127.0.0.1')
  await once(socket.resume(), 'close')
  await other.start()
  const again = new Connection(toOther.port)
  expect(await again.send(['PING'])).toBe('PONG')
  again.close()
})
