import type { RedisServer } from '../../../../test/support/redis/index'

/** What each key of a server has left, in ms; -1 where it has no end. */
export async function ttlsOf(server: RedisServer, pattern = '*'): Promise<ReadonlyMap<string, number>> {
  const keys = (await server.command('KEYS', pattern)) as string[]
  return new Map(
    await Promise.all(keys.map(async (key) => [key, Number(await server.command('PTTL', key))] as const)),
  )
}

/** Takes the expiry from every key, as a restore by hand may. */
export async function persistAll(server: RedisServer): Promise<void> {
  for (const key of (await server.command('KEYS', 'tidegate:*')) as string[]) {
    await server.command('PERSIST', key)
  }
}
