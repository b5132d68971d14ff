import { afterAll, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { LISTENS, run } from './support/program'

const server = await startRedis()
afterAll(() => server.stop())

for (const ioredis of ['ioredis5', 'ioredis']) {
  describe(`a process with ${ioredis} that only listens`, () => {
    it('ends by itself', async () => {
      const source = `${LISTENS}; await redis.quit(); console.log('done')`
      expect(await run(source, ioredis, String(server.port))).toEqual({ code: 0, output: 'done\n' })
    })

    it('ends by itself while the server is away', async () => {
      await using other = await startRedis()
      const source = `${LISTENS}
        redis.on('error', () => {})
        // It gives up by itself, and the connection that listens was made before.
        redis.options.retryStrategy = null
        redis.shutdown('NOSAVE').catch(() => {})
        await new Promise((resolve) => redis.once('end', resolve))
        console.log('done')`
      expect(await run(source, ioredis, String(other.port))).toEqual({ code: 0, output: 'done\n' })
    })
  })
}
