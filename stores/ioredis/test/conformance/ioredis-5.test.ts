import { afterAll } from 'vitest'
import { startRedis } from '../../../../test/support/redis/index'
import { client } from '../support/clients'
import { circuitKey, conforms, harnessOver } from '../support/harness'

const server = await startRedis()
afterAll(() => server.stop())

const harness = harnessOver('ioredisStore on ioredis 5', client(5, server), client(5, server), {
  flush: () => server.command('FLUSHALL'),
  expire: (name) => server.command('DEL', circuitKey(name)),
})

conforms(harness, ['leap', 'stepClock', 'loseWrites'])
