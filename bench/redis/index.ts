// What a circuit in Redis costs a call, and how soon a fleet hears of a trip.
//
//   node --import tsx redis/index.ts [--quick] [--detection]     --detection leaves the throughput out
import { startProxy, startRedis } from '../../test/support/redis'
import { detection } from './detection'
import { throughput } from './throughput'

const isQuick = process.argv.includes('--quick')
const DELAYS_MS = [0, 1, 5]

const server = await startRedis()
const proxy = await startProxy(server.port)
try {
  if (!process.argv.includes('--detection'))
    await throughput({ proxy, delaysMs: DELAYS_MS, rounds: isQuick ? 3 : 9, goal })
  await detection({ proxy, delaysMs: DELAYS_MS, trials: isQuick ? 15 : 100, goal })
} finally {
  await proxy.stop()
  await server.stop()
}

function goal(text: string, holds: boolean, seen: string): void {
  if (!holds) process.exitCode = 1
  console.log(`${holds ? 'ok    ' : 'MISSED'}  ${text}: ${seen}`)
}
