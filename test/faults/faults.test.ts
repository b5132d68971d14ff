import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, it } from 'vitest'
import { type RedisProxy, type RedisServer, startProxy, startRedis } from '../support/redis'
import { until } from '../support/until'
import { type Client, Crew } from './crew'

/** How soon after its clients are ready again a fleet agrees again: the promise. */
const REUNION_MS = 2_000

interface Scene {
  readonly server: RedisServer
  readonly proxy: RedisProxy
}

interface Fault {
  readonly title: string
  /** Whether it is there before the instances are. */
  readonly isFirst?: true
  /** How the instances' clients are configured for it. */
  readonly client?: Client
  begin(scene: Scene): unknown
  end(scene: Scene): unknown
}

const FAULTS: readonly Fault[] = [
  {
    title: 'stopped (SIGSTOP)',
    begin: ({ server }) => server.freeze(),
    end: ({ server }) => server.thaw(),
  },
  {
    title: 'killed, and restarted empty',
    begin: ({ server }) => server.kill(),
    end: ({ server }) => server.start(),
  },
  {
    title: 'unreachable at start-up',
    isFirst: true,
    begin: ({ proxy }) => proxy.cut(),
    end: ({ proxy }) => proxy.mend(),
  },
  {
    title: 'accepting connections and never answering, from the start',
    isFirst: true,
    begin: ({ proxy }) => proxy.mute(),
    end: ({ proxy }) => proxy.unmute(),
  },
  {
    title: 'falling mute',
    begin: ({ proxy }) => proxy.mute(),
    end: ({ proxy }) => proxy.unmute(),
  },
  {
    title: 'answering after 400 ms',
    begin: ({ proxy }) => {
      proxy.delayMs = 400
    },
    end: ({ proxy }) => {
      proxy.delayMs = 0
    },
  },
  {
    title: 'LOADING',
    async begin({ server }) {
      await server.command('DEBUG', 'POPULATE', 20_000)
      // The delay of a key is in microseconds, so that this takes some seconds, if nobody ends it before.
      await server.command('CONFIG', 'SET', 'key-load-delay', 500)
      await server.command('CONFIG', 'SET', 'loading-process-events-interval-bytes', 1_024)
      // On a connection of its own, for it is answered when it is over.
      const admin = new Redis(server.port)
      ending.push(() => admin.disconnect())
      void admin.debug('RELOAD').catch(() => {})
      await until('LOADING', () => isLoading(server))
    },
    async end({ server }) {
      await server.command('CONFIG', 'SET', 'key-load-delay', 0)
      await until('the end of LOADING', async () => !(await isLoading(server)))
    },
  },
  {
    title: 'READONLY, as after a failover',
    begin: ({ server }) => server.command('REPLICAOF', '127.0.0.1', 1),
    end: ({ server }) => server.command('REPLICAOF', 'NO', 'ONE'),
  },
  {
    title: 'out of memory, with noeviction',
    begin: ({ server }) => server.command('CONFIG', 'SET', 'maxmemory', 1),
    end: ({ server }) => server.command('CONFIG', 'SET', 'maxmemory', 0),
  },
  {
    title: 'MISCONF, unable to save',
    async begin({ server }) {
      await server.command('CONFIG', 'SET', 'save', '3600 1000000')
      // A file cannot be renamed to what is a folder.
      const [, folder] = (await server.command('CONFIG', 'GET', 'dir')) as [string, string]
      mkdirSync(join(folder, 'a-folder'))
      await server.command('CONFIG', 'SET', 'dbfilename', 'a-folder')
      await server.command('BGSAVE')
      await until('a failed BGSAVE', async () =>
        String(await server.command('INFO', 'persistence')).includes('rdb_last_bgsave_status:err'),
      )
    },
    async end({ server }) {
      await server.command('CONFIG', 'SET', 'stop-writes-on-bgsave-error', 'no')
    },
  },
  {
    title: 'NOAUTH, a password all of a sudden',
    async begin({ server }) {
      await server.command('CONFIG', 'SET', 'requirepass', 'of-late')
      await server.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    },
    async end({ server }) {
      await server.command('AUTH', 'of-late')
      await server.command('CONFIG', 'SET', 'requirepass', '')
    },
  },
  {
    title: 'WRONGPASS, from the start',
    isFirst: true,
    client: { password: 'wrong' },
    begin: ({ server }) => server.command('CONFIG', 'SET', 'requirepass', 'right'),
    async end({ server }) {
      await server.command('AUTH', 'right')
      await server.command('CONFIG', 'SET', 'requirepass', 'wrong')
    },
  },
]

/** Without the queue, and with it, as is the default. */
const CLIENTS = [true, false]

let ending: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
  ending = []
})

describe.each(CLIENTS)('a fleet on clients whose offline queue is on: %s', (enableOfflineQueue) => {
  it.each(FAULTS)('calls on while Redis is $title, and agrees again after', async (fault) => {
    const { server, proxy } = await scene()
    if (fault.isFirst) await fault.begin({ server, proxy })
    const crew = await crewAt(proxy.port, { enableOfflineQueue, ...fault.client })
    if (!fault.isFirst) {
      await until('a fleet that agrees', () => crew.clientsReady && crew.away === 0)
      await crew.callsGoOn(50)
      await fault.begin({ server, proxy })
    }
    await until('everybody to know', () => crew.away === crew.instances.length)
    await crew.callsGoOn(300)
    await fault.end({ server, proxy })
    await until('clients that are ready', () => crew.clientsReady)
    const readyAt = performance.now()
    await until('everybody to be back', () => crew.away === 0, REUNION_MS)
    const reunionMs = performance.now() - readyAt
    await crew.agrees(REUNION_MS)
    expect(crew.failures).toEqual([])
    expect(crew.heldUp).toBe(0)
    console.log(`${fault.title}: ${crew.calls} calls, one fleet again after ${reunionMs.toFixed(0)} ms`)
  })
})

describe('a fleet', () => {
  it('notices nothing of a SCRIPT FLUSH', async () => {
    const { server, proxy } = await scene()
    const crew = await crewAt(proxy.port, {})
    await until('a fleet that agrees', () => crew.clientsReady && crew.away === 0)
    const before = crew.instances.map(({ outages }) => outages)
    for (let flush = 0; flush < 20; flush++) {
      await server.command('SCRIPT', 'FLUSH')
      await crew.callsGoOn(20)
    }
    await crew.agrees(REUNION_MS)
    expect(crew.instances.map(({ outages }) => outages)).toEqual(before)
    expect(crew.failures).toEqual([])
  })

  it('agrees with its next exchanges where an ACL lets it use no channels', async () => {
    const { server, proxy } = await scene()
    await server.command('ACL', 'SETUSER', 'app', 'on', '>pw', '~*', '+@all', 'resetchannels')
    const crew = await crewAt(proxy.port, { username: 'app', password: 'pw' })
    await until('a fleet that agrees', () => crew.clientsReady && crew.away === 0)
    const before = crew.instances.map(({ outages }) => outages)
    await crew.agrees(REUNION_MS)
    expect(await server.command('PUBSUB', 'CHANNELS')).toEqual([])
    expect(crew.instances.map(({ outages }) => outages)).toEqual(before)
    expect(crew.failures).toEqual([])
  })
})

async function isLoading(server: RedisServer): Promise<boolean> {
  return String(await server.command('INFO', 'persistence')).includes('loading:1')
}

async function scene(): Promise<Scene> {
  const server = await startRedis({
    config: { 'enable-debug-command': 'yes', 'enable-protected-configs': 'yes' },
  })
  ending.push(() => server.stop())
  const proxy = await startProxy(server.port)
  ending.push(() => proxy.stop())
  return { server, proxy }
}

async function crewAt(port: number, options: Client): Promise<Crew> {
  const crew = new Crew(3, { port, retryStrategy: () => 100, ...options })
  ending.push(() => crew[Symbol.asyncDispose]())
  return crew
}
