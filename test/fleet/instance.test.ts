import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { startCluster, startRedis, startSentinel } from '../support/redis/index'
import { until } from '../support/until'
import { Bell } from './bell'
import { environmentOf, type InstanceConfig, type Way } from './config'
import { Dependency } from './dependency'
import { Fleet } from './fleet'
import { isShared } from './journal'
import { PROGRAM } from './member'

const config = (way: Way, dependencyPort: number): Omit<InstanceConfig, 'name'> => ({
  way,
  prefix: 'fleet',
  breaker: { name: 'payments', syncMs: 20 },
  dependencyPort,
  callers: 4,
  thinkMs: [10, 20],
  deadlineMs: 1_000,
  heedsSignal: true,
  seed: 1,
})

const ways: [string, () => Promise<AsyncDisposable & { readonly way: Way }>][] = [
  [
    'one server',
    async () => {
      const redis = await startRedis()
      return { way: { kind: 'single', port: redis.port }, [Symbol.asyncDispose]: () => redis.stop() }
    },
  ],
  [
    'a cluster',
    async () => {
      const cluster = await startCluster()
      const ports = cluster.nodes.map(({ port }) => port)
      return { way: { kind: 'cluster', ports }, [Symbol.asyncDispose]: () => cluster.stop() }
    },
  ],
  [
    'a group of sentinels',
    async () => {
      const group = await startSentinel()
      const ports = group.sentinels.map(({ port }) => port)
      return {
        way: { kind: 'sentinel', ports, master: group.name },
        [Symbol.asyncDispose]: () => group.stop(),
      }
    },
  ],
]

test.each(ways)(
  'shares a circuit through %s, and ends of itself when it is told to stop',
  async (_, start) => {
    await using store = await start()
    const bell = new Bell()
    const dependency = new Dependency(bell)
    const port = await dependency.listen()
    const fleet = new Fleet(bell, () => config(store.way, port))
    const { visits } = dependency
    try {
      await Promise.all([fleet.add(), fleet.add()])
      fleet.tell({ do: 'go' })
      await bell.until('calls of both', () =>
        ['i0', 'i1'].every((name) => visits.some(({ instance }) => instance === name)),
      )
      expect(new Set(visits.map(({ fence }) => fence)).size).toBe(1)
      expect(visits.every(({ fence }) => isShared(fence))).toBe(true)
    } finally {
      await fleet.stop()
      dependency.close()
    }
    const kinds = fleet.tellings.map(({ report }) => report.kind).filter((kind) => kind !== 'stall')
    expect(kinds.toSorted()).toEqual(['end', 'end', 'ready', 'ready'])
  },
)

test('ends when its parent is killed', async () => {
  await using redis = await startRedis()
  const { port } = redis
  const script = `
    const child = require('node:child_process').fork(${JSON.stringify(PROGRAM)}, { execArgv: ['--import', 'tsx'] })
    child.on('message', () => console.log(child.pid))`
  const parent = spawn(process.execPath, ['-e', script], {
    cwd: dirname(PROGRAM),
    env: { ...process.env, ...environmentOf({ name: 'i0', ...config({ kind: 'single', port }, 1) }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(parent.stdout, 'data')
  const pid = Number(String(line).split('\n', 1)[0])
  expect(isAlive(pid)).toBe(true)
  parent.kill('SIGKILL')
  await until('its end', () => !isAlive(pid))
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
