import { until } from '../until'
import type { RedisServer } from './server'

/** Resolves when a replica has all that its master has. */
export async function inStep(replica: RedisServer, master: RedisServer): Promise<void> {
  await until('a replica to have what its master has', async () => {
    // Sentinels have a replica close its connections when they give it another master.
    const info = await replica.command('INFO', 'replication').catch(() => '')
    return [`master_port:${master.port}\r`, 'master_link_status:up\r'].every((line) =>
      String(info).includes(line),
    )
  })
}
