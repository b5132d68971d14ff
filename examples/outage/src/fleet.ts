import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { memoryStore } from '@tidegate/core'
import { ioredisStore } from '@tidegate/store-ioredis'
import { Redis } from 'ioredis'
import { startInstance } from './instance'
import { type Told, tell } from './told'

/** One instance of the application, wherever it runs. */
export interface Member {
  readonly name: string
  readonly url: string
  /** Hears of all that its circuit does from now on. */
  onTold: (told: Told) => void
  close(): Promise<void>
}

/** Starts the instances that call a dependency, and share one circuit. */
export type StartFleet = (names: readonly string[], dependency: string) => Promise<readonly Member[]>

/** All in this process, over a memory store. */
export const startHere: StartFleet = (names, dependency) => {
  const store = memoryStore()
  return Promise.all(
    names.map(async (name) => {
      const { url, payments, close } = await startInstance(name, store, dependency)
      const member: Member = { name, url, onTold: () => {}, close }
      tell(payments, (told) => member.onTold(told))
      return member
    }),
  )
}

/** Each in a process of its own, over a Redis. */
export function startProcesses(redisUrl: string): StartFleet {
  return (names, dependency) => {
    // Each round is a circuit of its own, whatever is in that Redis; its keys go by themselves.
    const prefix = `tidegate-demo-${randomBytes(6).toString('hex')}`
    return Promise.all(names.map((name) => startProcess({ name, dependency, prefix, redisUrl })))
  }
}

/** What a process is told when it starts; in its environment, for arguments show in lists of processes. */
export interface Assignment {
  readonly name: string
  readonly dependency: string
  readonly prefix: string
  readonly redisUrl: string
}

/** What a process says. */
export type Message = { readonly url: string } | Told

async function startProcess(assignment: Assignment): Promise<Member> {
  const child = fork(fileURLToPath(new URL('./process.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, TIDEGATE_DEMO: JSON.stringify(assignment) },
  })
  const ended = once(child, 'exit')
  const failed = ended.then(([code]) => {
    throw new Error(`the process of instance ${assignment.name} ended with ${code}`)
  })
  const [first] = (await Promise.race([once(child, 'message'), failed])) as [{ readonly url: string }]
  failed.catch(() => {})
  const member: Member = {
    name: assignment.name,
    url: first.url,
    onTold: () => {},
    async close() {
      // It closes what it has open when its parent is gone, whether that said so or not.
      if (child.connected) child.disconnect()
      await ended
    },
  }
  child.on('message', (told: Told) => member.onTold(told))
  return member
}

/** @throws Error saying what is wrong, without the URL: it may hold a password */
export async function checkRedis(redisUrl: string): Promise<void> {
  const redis = new Redis(redisUrl, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 2_000 })
  redis.on('error', () => {})
  try {
    await redis.connect()
    await ioredisStore(redis).ping()
  } catch (error) {
    throw new Error(`no Redis answers at REDIS_URL (${(error as Error).message})`)
  } finally {
    redis.disconnect()
  }
}
