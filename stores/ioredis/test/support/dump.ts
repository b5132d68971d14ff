import type { RedisServer } from '../../../../test/support/redis/index'

/** Everything that a server has, byte by byte, and whether it expires. */
export async function dumpOf(server: RedisServer): Promise<Readonly<Record<string, string>>> {
  const keys = (await server.command('KEYS', '*')) as string[]
  const entries = keys.sort().map(async (key) => [key, await contentOf(server, key)] as const)
  return Object.fromEntries(await Promise.all(entries))
}

/** Not DUMP, whose bytes differ by how a value happens to be stored. */
async function contentOf(server: RedisServer, key: string): Promise<string> {
  const expires = Number(await server.command('PTTL', key)) >= 0
  const content = await read(server, key)
  return `${expires ? 'expires' : 'stays'}: ${JSON.stringify(content)}`
}

async function read(server: RedisServer, key: string): Promise<unknown> {
  switch (await server.command('TYPE', key)) {
    case 'hash': {
      const fields = (await server.command('HGETALL', key)) as string[]
      const pairs = fields.flatMap((field, at) => (at % 2 === 0 ? [`${field}=${fields[at + 1]}`] : []))
      return pairs.sort()
    }
    case 'zset':
      return server.command('ZRANGE', key, 0, -1, 'WITHSCORES')
    case 'set':
      return ((await server.command('SMEMBERS', key)) as string[]).sort()
    default:
      return server.command('GET', key)
  }
}
