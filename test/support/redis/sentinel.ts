import { until } from '../until'
import { inStep } from './replication'
import { type RedisServer, startRedis, startServer } from './server'

const GROUP = 'tide'
const QUORUM = 2

/** Sentinels ask and tell each other things every second or two; since Redis 7 they can be hurried. In ms. */
const QUICK = ['PING-PERIOD', 250, 'ASK-PERIOD', 100, 'PUBLISH-PERIOD', 200, 'INFO-PERIOD', 1_000]

export interface SentinelOptions {
  /** @default 1 */
  readonly replicas?: number
  /** @default 3 */
  readonly sentinels?: number
}

export interface FailoverOptions {
  /** Writes to the master that no replica gets: it acknowledges them, and they are gone after the failover. */
  readonly losing?: () => Promise<void>
}

/** A master with replicas, and sentinels that choose another master when it is gone. */
export interface SentinelGroup extends AsyncDisposable {
  /** What the sentinels call it. */
  readonly name: string
  /** Where they are; with the name, what ioredis connects by. */
  readonly sentinels: readonly { readonly host: string; readonly port: number }[]
  readonly sentinelServers: readonly RedisServer[]
  readonly master: RedisServer
  /** The others, the master of before a failover among them. */
  readonly replicas: readonly RedisServer[]
  /**
   * Kills the master, and resolves when every sentinel that runs names a new one, which
   * agrees and which the other replicas follow, some 2.5 s later. Everything that the
   * replicas have acknowledged survives, and nothing of {@link FailoverOptions.losing}.
   */
  failover(options?: FailoverOptions): Promise<void>
  /** Starts again whoever was killed, as replicas of the master; resolves when they have all its data. */
  rejoin(): Promise<void>
  stop(): Promise<void>
}

/** Starts a group that fails over a second after its master is gone. Resolves when it could, in half a second. */
export async function startSentinel(options: SentinelOptions = {}): Promise<SentinelGroup> {
  const { replicas = 1, sentinels = 3 } = options
  const master = await startRedis()
  const others = await Promise.all(
    Array.from({ length: replicas }, () => startRedis({ config: replicating(master) })),
  )
  const guards = await Promise.all(Array.from({ length: sentinels }, () => startGuard(master)))
  const group = new Group(master, others, guards)
  try {
    await Promise.all([
      ...others.map((replica) => inStep(replica, master)),
      ...guards.map((guard) => knowsAll(guard, replicas, sentinels)),
    ])
    return group
  } catch (error) {
    await group.stop()
    throw error
  }
}

function replicating({ host, port }: RedisServer): { replicaof: string } {
  return { replicaof: `${host} ${port}` }
}

async function startGuard({ host, port }: RedisServer): Promise<RedisServer> {
  const sentinel = [`monitor ${GROUP} ${host} ${port} ${QUORUM}`, `failover-timeout ${GROUP} 2000`]
  const guard = await startServer(['--sentinel'], { sentinel })
  const quick = await guard.command('SENTINEL', 'DEBUG', ...QUICK).then(
    () => true,
    () => false,
  )
  // A master closes its connections as it becomes one, and sentinels connect again no more than once in a
  // PING-PERIOD. One that is patient for less takes it for down and fails over, and over, and over.
  await guard.command('SENTINEL', 'SET', GROUP, 'down-after-milliseconds', quick ? 1_000 : 2_500)
  return guard
}

/** A sentinel that has not met the others, or a replica, could not choose it. */
async function knowsAll(guard: RedisServer, replicas: number, sentinels: number): Promise<void> {
  await until('the sentinels to know each other', async () => {
    const seen = await seenBy(guard)
    return (
      seen.flags === 'master' &&
      seen['num-slaves'] === String(replicas) &&
      seen['num-other-sentinels'] === String(sentinels - 1)
    )
  })
}

/** What a sentinel has to say about the master; its flags tell whether it is down, or being replaced. */
async function seenBy(guard: RedisServer): Promise<Partial<Record<string, string>>> {
  const fields = (await guard.command('SENTINEL', 'MASTER', GROUP)) as string[]
  return Object.fromEntries(fields.flatMap((name, i) => (i % 2 === 0 ? [[name, fields[i + 1]]] : [])))
}

class Group implements SentinelGroup {
  readonly name: string = GROUP
  readonly sentinelServers: readonly RedisServer[]
  #master: RedisServer
  #replicas: readonly RedisServer[]

  constructor(master: RedisServer, replicas: readonly RedisServer[], sentinels: readonly RedisServer[]) {
    this.#master = master
    this.#replicas = replicas
    this.sentinelServers = sentinels
  }

  get sentinels(): readonly { readonly host: string; readonly port: number }[] {
    return this.sentinelServers.map(({ host, port }) => ({ host, port }))
  }

  get master(): RedisServer {
    return this.#master
  }

  get replicas(): readonly RedisServer[] {
    return this.#replicas
  }

  /** What was written before is kept: replicas have it once they have this. */
  async #untilReplicated(master: RedisServer): Promise<void> {
    const running = this.#replicas.filter(({ state }) => state === 'running').length
    await master.command('SET', 'before-the-failover', 1)
    await master.command('WAIT', running, 0)
  }

  async failover({ losing }: FailoverOptions = {}): Promise<void> {
    const lost = this.#master
    if (losing) {
      await this.#untilReplicated(lost)
      await shutOutReplicas(lost)
      await losing()
    }
    await lost.kill()
    const heir = await until('the sentinels to agree on another master', () => this.#heir(lost))
    const others = this.#replicas.filter((replica) => replica !== heir)
    this.#replicas = [...others, lost]
    this.#master = heir
    await Promise.all(
      others.filter(({ state }) => state === 'running').map((replica) => inStep(replica, heir)),
    )
  }

  async rejoin(): Promise<void> {
    // Started as a master it would be made a replica too, but only after a second of being an empty master.
    const back = this.#replicas.filter(({ state }) => state === 'down')
    await Promise.all(back.map((replica) => replica.start(replicating(this.#master))))
    await Promise.all(back.map((replica) => inStep(replica, this.#master)))
  }

  async stop(): Promise<void> {
    await Promise.all(
      [...this.sentinelServers, ...this.#replicas, this.#master].map((server) => server.stop()),
    )
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** The replica that every sentinel takes for the master, and that takes itself for it. */
  async #heir(lost: RedisServer): Promise<RedisServer | undefined> {
    const running = this.sentinelServers.filter(({ state }) => state === 'running')
    const views = await Promise.all(running.map(seenBy))
    const port = Number(views[0]?.port)
    if (port === lost.port) return undefined
    if (views.some((view) => view.flags !== 'master' || Number(view.port) !== port)) return undefined
    const heir = this.#replicas.find((replica) => replica.port === port)
    // Its connections are closed as it becomes the master.
    const role = await heir?.command('ROLE').catch(() => undefined)
    return Array.isArray(role) && role[0] === 'master' ? heir : undefined
  }
}

/**
 * Ends replication from a master for as long as it lives, at its end: when this
 * resolves, no write that is yet to come can reach a replica. Sentinels see
 * replicas of the right master whose link is down, and let them be; one that
 * replicates something else they would lead back within seconds.
 */
async function shutOutReplicas(master: RedisServer): Promise<void> {
  await master.command('ACL', 'SETUSER', 'default', '-psync', '-sync')
  await master.command('CLIENT', 'KILL', 'TYPE', 'replica')
}
