import { until } from '../until'
import { inStep } from './replication'
import { type RedisServer, startRedis } from './server'

const SLOTS = 16_384

export interface ClusterOptions {
  /** @default 3 */
  readonly masters?: number
  /** @default 0 */
  readonly replicasPerMaster?: 0 | 1
}

/** A Redis Cluster; its nodes are killed, frozen and restarted like any other server, and know each other again. */
export interface RedisCluster extends AsyncDisposable {
  /** The masters as they were built, then their replicas in the same order. */
  readonly nodes: readonly RedisServer[]
  /** The node that now serves a key, as the nodes that run see it. */
  masterOf(key: string): Promise<RedisServer>
  /**
   * Resolves when the nodes that run agree, each slot is served by one of them, and
   * all say that the cluster is well: after a kill, when a replica has taken over.
   */
  settled(): Promise<void>
  stop(): Promise<void>
}

/** Starts a cluster with a node timeout of 1 s. Resolves when it is {@link RedisCluster.settled}, some 2.5 s later. */
export async function startCluster(options: ClusterOptions = {}): Promise<RedisCluster> {
  const { masters = 3, replicasPerMaster = 0 } = options
  const count = masters * (1 + replicasPerMaster)
  const config = {
    'cluster-enabled': 'yes',
    'cluster-node-timeout': 1000,
    'cluster-announce-ip': '127.0.0.1',
  }
  const nodes = await Promise.all(Array.from({ length: count }, () => startRedis({ config })))
  const cluster = new Cluster(nodes)
  try {
    await join(nodes, masters)
    await cluster.settled()
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

/** Makes single nodes one cluster: the first ones share the slots, the others replicate them in turn. */
async function join(nodes: readonly RedisServer[], masters: number): Promise<void> {
  const [first] = nodes
  if (!first) return
  const owners = nodes.slice(0, masters)
  await Promise.all(
    nodes.map(async (node, i) => {
      // Two nodes of one epoch would first have to agree who is the newer.
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', i + 1)
      if (i < masters) await node.command('CLUSTER', 'ADDSLOTS', ...slotsOf(i, masters))
      if (i > 0) await node.command('CLUSTER', 'MEET', first.host, first.port)
    }),
  )
  for (const node of nodes)
    await until('the nodes to know each other', async () => (await known(node)) === nodes.length)
  await Promise.all(
    nodes.slice(masters).map(async (replica, i) => {
      const owner = owners[i % masters] as RedisServer
      await replica.command('CLUSTER', 'REPLICATE', String(await owner.command('CLUSTER', 'MYID')))
      await inStep(replica, owner)
    }),
  )
}

function slotsOf(owner: number, owners: number): number[] {
  const from = Math.ceil((SLOTS * owner) / owners)
  const to = Math.ceil((SLOTS * (owner + 1)) / owners)
  return Array.from({ length: to - from }, (_, i) => from + i)
}

/** Nodes that a node has shaken hands with, itself included. */
async function known(node: RedisServer): Promise<number> {
  const lines = String(await node.command('CLUSTER', 'NODES'))
    .trim()
    .split('\n')
  return lines.filter((line) => !line.includes('handshake')).length
}

/** A run of slots, the port of the master that serves it, and those of its replicas. */
interface Share {
  readonly from: number
  readonly to: number
  readonly master: number
  readonly replicas: readonly number[]
}

class Cluster implements RedisCluster {
  readonly nodes: readonly RedisServer[]

  constructor(nodes: readonly RedisServer[]) {
    this.nodes = nodes
  }

  async masterOf(key: string): Promise<RedisServer> {
    const ask = this.#running()[0]
    if (!ask) throw new Error('no node of the cluster runs')
    const slot = Number(await ask.command('CLUSTER', 'KEYSLOT', key))
    const share = (await sharesBy(ask)).find(({ from, to }) => from <= slot && slot <= to)
    const node = this.nodes.find(({ port }) => port === share?.master)
    if (!node) throw new Error(`no node of the cluster has slot ${slot}`)
    return node
  }

  async settled(): Promise<void> {
    await until('the cluster to settle', async () => {
      const running = this.#running()
      const views = await Promise.all(running.map(sharesBy))
      const [shares = []] = views
      const text = JSON.stringify(shares)
      return (
        views.every((view) => JSON.stringify(view) === text) &&
        shares.reduce((sum, { from, to }) => sum + to - from + 1, 0) === SLOTS &&
        shares.every(({ master }) => running.some(({ port }) => port === master)) &&
        (await Promise.all(running.map(isWell))).every(Boolean)
      )
    })
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #running(): RedisServer[] {
    return this.nodes.filter(({ state }) => state === 'running')
  }
}

async function isWell(node: RedisServer): Promise<boolean> {
  return String(await node.command('CLUSTER', 'INFO')).includes('cluster_state:ok')
}

/** Who has which slots, as one node sees it. */
async function sharesBy(node: RedisServer): Promise<Share[]> {
  const answer = (await node.command('CLUSTER', 'SLOTS')) as [number, number, ...[string, number][]][]
  return answer
    .map(([from, to, ...holders]): Share => {
      const [master = 0, ...replicas] = holders.map(([, port]) => port)
      return { from, to, master, replicas: replicas.sort((a, b) => a - b) }
    })
    .sort((a, b) => a.from - b.from)
}
