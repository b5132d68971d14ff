import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../test/support/redis'
import { until } from '../../../test/support/until'

const program = fileURLToPath(new URL('../src/index.ts', import.meta.url))
const directory = fileURLToPath(new URL('..', import.meta.url))
// Without what whoever runs the tests asks of Node.js: the packages' sources, say.
const { NODE_OPTIONS: _, REDIS_URL: __, ...clean } = process.env

/** Runs the demo as `npm start` does, on the built packages. */
function start(args: readonly string[] = [], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], {
    env: { ...clean, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const hear = (chunk: Buffer) => {
    output += chunk
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, output }))
  const says = async (text: string): Promise<void> => {
    const early = ended.then(() => {
      if (!output.includes(text)) throw new Error(`it ended without saying "${text}":\n${output}`)
    })
    while (!output.includes(text)) await Promise.race([once(child.stdout, 'data'), early])
  }
  return { child, ended, says }
}

/** Connections of others than the test's own. */
async function clientsOf(server: RedisServer): Promise<number> {
  const clients = String(await server.command('CLIENT', 'LIST'))
    .trim()
    .split('\n')
  return clients.filter((client) => !client.includes('cmd=client')).length
}

const beginning = (output: string, mark: string) => output.split('\n').filter((line) => line.startsWith(mark))

describe('npm start', () => {
  it('runs on the built packages', () => {
    const script =
      "console.log(import.meta.resolve('@tidegate/core'), import.meta.resolve('@tidegate/express'))"
    const args = ['--import', 'tsx', '--input-type=module', '--eval', script]
    const resolved = execFileSync(process.execPath, args, { cwd: directory, env: clean, encoding: 'utf8' })
    expect(resolved).toMatch(/core\/dist\/\S+ \S+express\/dist\//)
  })

  it('-- --once plays one round and ends with 0 when all that it promises was true', async () => {
    const { code, output } = await start(['--once', '--seed', '7']).ended
    expect(beginning(output, 'BROKEN')).toEqual([])
    expect(beginning(output, 'ok')).toHaveLength(8)
    expect(output).toContain('Seed 7.')
    expect(output).toMatch(/PROBES {5}fence \d{16}\./)
    expect(output).toMatch(/LATE {7}fence \d{16}\.\S+ {2}a failure\n.*is still closed/)
    expect(output.match(/had refused \d+ calls, in the median after [\d.]+ ms, p99 [\d.]+ ms/g)).toHaveLength(
      6,
    )
    expect(output).toMatch(/requests of users +\d+: \d+ paid, \d+ failed/)
    expect(output).toMatch(/reached it while it was down +\d+, of which \d+ probes/)
    expect(output.split('\n').filter((line) => line.length > 100)).toEqual([])
    expect(output).not.toContain('\u001b')
    expect(code).toBe(0)
  }, 60_000)

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'goes on until %s, and then sums up',
    async (signal) => {
      const { child, ended, says } = start()
      await says('GOES DOWN')
      child.kill(signal)
      const { code, output } = await ended
      expect(output).toContain('Ctrl-C ends it')
      expect(output).toMatch(/requests of users +\d+: \d+ paid, \d+ failed/)
      expect(output).toMatch(/no answer, anything else +0\n/)
      expect(output).toContain('not judged')
      expect(code).toBe(0)
    },
    60_000,
  )

  it('-- --once plays it with three processes over the Redis that REDIS_URL names', async () => {
    await using server = await startRedis()
    const { code, output } = await start(['--once', '--seed', '7'], { REDIS_URL: server.url }).ended
    expect(output).toContain('Three processes of an Express app share one circuit in Redis')
    expect(beginning(output, 'BROKEN')).toEqual([])
    expect(beginning(output, 'ok')).toHaveLength(8)
    expect(code).toBe(0)
    const keys = (await server.command('KEYS', '*')) as string[]
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys) expect(await server.command('PTTL', key)).toBeGreaterThan(0)
  }, 60_000)

  it('leaves no process behind when it is killed over a Redis', async () => {
    await using server = await startRedis()
    const { child, ended, says } = start([], { REDIS_URL: server.url })
    await says('GOES DOWN')
    expect(await clientsOf(server)).toBeGreaterThanOrEqual(3)
    child.kill('SIGKILL')
    await ended
    await until('the processes to be gone', async () => (await clientsOf(server)) === 0)
  }, 60_000)

  it('says where no Redis answers, and not with which password', async () => {
    const { code, output } = await start([], { REDIS_URL: 'redis://:hush@127.0.0.1:1' }).ended
    expect(output).toContain('no Redis answers at REDIS_URL')
    expect(output).not.toContain('hush')
    expect(code).toBe(2)
  }, 60_000)

  it('-- --once does not call true what it was kept from judging', async () => {
    const { child, ended, says } = start(['--once'])
    await says('is healthy')
    child.kill('SIGINT')
    const { code, output } = await ended
    expect(beginning(output, 'ok')).toEqual([])
    expect(code).toBe(1)
  }, 60_000)

  it('explains an argument that it does not know', async () => {
    for (const [args, message] of [
      [['--twice'], 'there is no argument --twice; there are --once and --seed <whole number>'],
      [['--seed', 'x'], '--seed must be followed by a whole number, at least 0; got x'],
      [['--seed'], 'got nothing'],
    ] as const) {
      const { code, output } = await start(args).ended
      expect(output).toContain(message)
      expect(code).toBe(2)
    }
  })
})
