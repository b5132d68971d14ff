import { Cluster as Cluster6, Redis as Redis6 } from 'ioredis'
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5'
import { afterAll } from 'vitest'

/** The majors of ioredis that the store runs on. */
export type Version = 5 | 6

export type Client = Redis5 | Redis6
export type ClusterClient = Cluster5 | Cluster6

/** Options of a client, of those that both versions have. */
export type Options = Readonly<Record<string, unknown>>

interface At {
  readonly port: number
}

interface Sentinels {
  readonly name: string
  readonly sentinels: readonly { readonly host: string; readonly port: number }[]
}

interface Closable {
  on(event: 'error', listener: () => void): unknown
  disconnect(): void
}

const open: Closable[] = []

/** A client that is closed at the end of the file, if not before. */
export function client(version: Version, { port }: At, options: Options = {}): Client {
  return closedLater(version === 6 ? new Redis6({ port, ...options }) : new Redis5({ port, ...options }))
}

export function sentinelClient(
  version: Version,
  { name, sentinels }: Sentinels,
  options: Options = {},
): Client {
  const by = { name, sentinels: [...sentinels], ...options }
  return closedLater(version === 6 ? new Redis6(by) : new Redis5(by))
}

export function clusterClient(version: Version, nodes: readonly At[], options: Options = {}): ClusterClient {
  const startup = nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
  return closedLater(version === 6 ? new Cluster6(startup, options) : new Cluster5(startup, options))
}

/** Errors are what some tests bring about; unheard, they would be printed. */
function closedLater<T extends Closable>(one: T): T {
  one.on('error', () => {})
  open.push(one)
  return one
}

afterAll(() => {
  for (const one of open.splice(0)) one.disconnect()
})
