import type { RedisServer } from '../../../../test/support/redis/index'

/** One line of CLIENT LIST. */
export interface ServerSide {
  readonly id: string
  readonly name: string
  readonly cmd: string
  /** Channels subscribed to. */
  readonly sub: number
}

/** The connections that a server has, but for its own that asks. */
export async function connectionsOf(server: RedisServer): Promise<readonly ServerSide[]> {
  const lines = String(await server.command('CLIENT', 'LIST'))
    .trim()
    .split('\n')
  return lines
    .map(
      (line) =>
        Object.fromEntries(line.split(' ').map((pair) => pair.split(/=(.*)/s))) as Record<string, string>,
    )
    .filter(({ cmd }) => cmd !== 'client|list' && cmd !== 'client')
    .map(({ id = '', name = '', cmd = '', sub = '0' }) => ({ id, name, cmd, sub: Number(sub) }))
}

/** Those that listen. */
export async function subscribersOf(server: RedisServer): Promise<readonly ServerSide[]> {
  return (await connectionsOf(server)).filter(({ sub }) => sub > 0)
}

/** Who listens to a channel, as far as Redis knows. */
export async function listenersOf(server: RedisServer, channel: string): Promise<number> {
  const [, count] = (await server.command('PUBSUB', 'NUMSUB', channel)) as [string, number]
  return count
}

/** How often a server was sent each command since CONFIG RESETSTAT, scripts' own among them. */
export async function commandsOf(server: RedisServer): Promise<ReadonlyMap<string, number>> {
  const info = String(await server.command('INFO', 'commandstats'))
  return new Map(
    [...info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name = '', calls]) => [name, Number(calls)]),
  )
}
