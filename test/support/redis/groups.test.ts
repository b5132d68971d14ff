import { Cluster as ClusterClient, Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RedisCluster, type SentinelGroup, startCluster, startSentinel } from './index'

// Side by side, since most of what both take is waiting for timeouts of Redis.
describe.concurrent('a cluster', () => {
  let cluster: RedisCluster
  let small: RedisCluster
  beforeAll(async () => {
    // Both at once: most of what it takes is waiting.
    ;[cluster, small] = await Promise.all([
      startCluster({ masters: 3, replicasPerMaster: 1 }),
      startCluster(),
    ])
  })
  afterAll(() => Promise.all([cluster?.stop(), small?.stop()]))

  test.sequential('spreads keys over its masters, and each takes those of its own', async () => {
    expect(cluster.nodes).toHaveLength(6)
    const keys = Array.from({ length: 30 }, (_, i) => `key-${i}`)
    const owners = new Set<number>()
    for (const key of keys) {
      const owner = await cluster.masterOf(key)
      expect(await owner.command('SET', key, 1)).toBe('OK')
      owners.add(owner.port)
    }
    expect([...owners].sort()).toEqual(
      cluster.nodes
        .slice(0, 3)
        .map(({ port }) => port)
        .sort(),
    )
  })

  test.sequential('sends away who asks the wrong node', async () => {
    const owner = await cluster.masterOf('key')
    const other = cluster.nodes.find((node) => node !== owner)
    await expect(other?.command('SET', 'key', 1)).rejects.toMatchObject({ code: 'MOVED' })
  })

  test.sequential('serves a client that knows one node only', async () => {
    const client = new ClusterClient(cluster.nodes.slice(0, 1).map(({ host, port }) => ({ host, port })))
    try {
      const keys = ['a', 'b', 'c', 'd', 'e', 'f']
      await Promise.all(keys.map((key) => client.set(key, `value of ${key}`)))
      for (const key of keys) {
        expect(await (await cluster.masterOf(key)).command('GET', key)).toBe(`value of ${key}`)
      }
    } finally {
      client.disconnect()
    }
  })

  test.sequential('has a replica take over from a master that was killed, which comes back as a replica', async () => {
    const lost = await cluster.masterOf('kept')
    await lost.command('SET', 'kept', 'yes')
    expect(await lost.command('WAIT', 1, 5_000)).toBe(1)
    await lost.kill()
    await cluster.settled()

    const heir = await cluster.masterOf('kept')
    expect(heir).not.toBe(lost)
    expect(await heir.command('GET', 'kept')).toBe('yes')

    await lost.start()
    await cluster.settled()
    expect(await lost.command('ROLE')).toEqual(expect.arrayContaining(['slave', heir.port]))
    await expect(cluster.masterOf('kept')).resolves.toBe(heir)
  })

  test.sequential('has a replica take over from a master that is frozen, which finds itself replaced when it thaws', async () => {
    const frozen = await cluster.masterOf('kept')
    await frozen.command('WAIT', 1, 5_000)
    await frozen.freeze()
    await cluster.settled()
    const heir = await cluster.masterOf('kept')
    expect(heir).not.toBe(frozen)

    frozen.thaw()
    await cluster.settled()
    expect(await frozen.command('ROLE')).toEqual(expect.arrayContaining(['slave', heir.port]))
  })

  test.sequential('needs no replicas', async () => {
    expect(small.nodes).toHaveLength(3)
    expect(small.nodes).toContain(await small.masterOf('key'))
  })
})

describe.concurrent('a group with sentinels', () => {
  let group: SentinelGroup
  beforeAll(async () => {
    group = await startSentinel()
  })
  afterAll(() => group?.stop())

  /** Writes, and resolves when every replica has it. */
  async function keep(key: string): Promise<void> {
    await group.master.command('SET', key, 'yes')
    expect(await group.master.command('WAIT', group.replicas.length, 5_000)).toBe(group.replicas.length)
  }

  test.sequential('has a master, a replica, and three sentinels who know where the master is', async () => {
    expect(await group.master.command('ROLE')).toContain('master')
    expect(group.replicas).toHaveLength(1)
    expect(group.sentinels).toHaveLength(3)
    for (const sentinel of group.sentinelServers) {
      expect(await sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', group.name)).toEqual([
        group.master.host,
        String(group.master.port),
      ])
      await expect(sentinel.command('SENTINEL', 'CKQUORUM', group.name)).resolves.toMatch(/^OK/)
    }
  })

  test.sequential('loses at a failover what the old master had acknowledged and no replica had', async () => {
    const { sentinels, name, master: lost, replicas } = group
    const client = new Redis({ sentinels: [...sentinels], name, maxRetriesPerRequest: null })
    client.on('error', () => {})
    try {
      await keep('kept')
      await group.failover({
        losing: async () => {
          expect(await client.set('lost', 'acknowledged')).toBe('OK')
          expect(await client.get('lost')).toBe('acknowledged')
        },
      })
      expect(lost.state).toBe('down')
      expect(group.master).toBe(replicas[0])
      expect(group.replicas).toEqual([lost])
      // The client has found the new master by itself.
      expect(await client.get('kept')).toBe('yes')
      expect(await client.get('lost')).toBe(null)
      expect(await client.set('after', 'yes')).toBe('OK')
      expect(await group.master.command('GET', 'after')).toBe('yes')
    } finally {
      client.disconnect()
    }
  })

  test.sequential('takes the old master back as a replica, which gets what the new one has', async () => {
    const [old] = group.replicas
    await group.rejoin()
    expect(await old?.command('ROLE')).toEqual(expect.arrayContaining(['slave', group.master.port]))
    expect(await old?.command('GET', 'after')).toBe('yes')
    expect(await old?.command('GET', 'lost')).toBe(null)
  })

  test.sequential('loses nothing at a failover that its replicas have, and fails back', async () => {
    const [heir] = group.replicas
    await keep('kept again')
    await group.failover()
    expect(group.master).toBe(heir)
    expect(await group.master.command('GET', 'kept again')).toBe('yes')
  })
})
