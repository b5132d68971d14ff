import { afterAll } from 'vitest'
import { startRedis } from '../../../../test/support/redis/index'
import { client } from '../support/clients'
import { circuitKey, conforms, harnessOver } from '../support/harness'
import { setClock } from '../support/set-clock'

// The scripts as they ship, but for where they take the time from.
const server = await startRedis()
afterAll(() => server.stop())

const clock = setClock(server)
const [here, there] = [client(6, server), client(5, server)]

const harness = harnessOver('ioredisStore with a clock set by hand', here, there, {
  advance: clock.leap,
  leap: clock.leap,
  stepClock: clock.step,
  flush: clock.flush,
  expire: (name) => server.command('DEL', circuitKey(name)),
  peer: () => clock.storeOver(there),
})

conforms({ ...harness, create: () => clock.storeOver(here), tickMs: 1_000 }, ['loseWrites'])
