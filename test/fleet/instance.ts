/*
 * One process of a fleet: callers, a breaker and its store, as an application has
 * them, from the packages as they are published. It tells its parent what happens,
 * and lives no longer than that.
 */
import { once } from 'node:events'
import { circuitBreaker } from '@tidegate/core'
import { ioredisStore } from '@tidegate/store-ioredis'
import { Callers } from './callers'
import { clientOf } from './client'
import { ownConfig } from './config'
import { Random } from './random'
import type { Command, Report, Status } from './reports'
import { Requests } from './request'
import { watchStalls } from './stalls'

type Untimed<R> = R extends unknown ? Omit<R, 'at'> : never

const config = ownConfig()
const random = new Random(config.seed)
const redis = clientOf(config.way)
const store = ioredisStore(redis, { prefix: config.prefix })
const breaker = circuitBreaker({ ...config.breaker, store })
const requests = new Requests(config.dependencyPort)

let permit = { fence: '', until: 0 }
const callers = new Callers(
  (leaving) =>
    breaker.execute(
      (context) => {
        const { fence } = context
        const until = fence === permit.fence ? permit.until : undefined
        const introduction = { instance: config.name, fence, sentAt: Date.now(), until }
        return requests.send(introduction, config.heedsSignal ? context.signal : undefined)
      },
      { signal: leaving, deadlineMs: config.deadlineMs },
    ),
  () => random.between(...config.thinkMs),
  tellUnexpected,
)

breaker.on('probe', (probe) => {
  permit = probe
  tell({ kind: 'probe', ...probe })
})
breaker.on('transition', (transition) => tell({ kind: 'transition', ...transition, counts: callers.counts }))
breaker.on('late', (late) => tell({ kind: 'late', ...late }))
breaker.on('storeDown', ({ error }) => tell({ kind: 'storeDown', error: String(error) }))
breaker.on('storeUp', () => tell({ kind: 'storeUp' }))
const endWatch = watchStalls((from) => tell({ kind: 'stall', from }))
process.on('unhandledRejection', tellUnexpected)
process.on('uncaughtException', tellUnexpected)
process.on('message', (command: Command) => void obey(command))
process.on('disconnect', exit)
// A call that came sooner would find no store, and that is another test's business.
if (redis.status !== 'ready') await once(redis, 'ready')
tell({ kind: 'ready' })

async function obey(command: Command): Promise<void> {
  switch (command.do) {
    case 'go':
      return callers.go(config.callers)
    case 'rest':
      return callers.rest()
    case 'leave':
      return callers.leave()
    case 'status':
      return tell({ kind: 'status', number: command.number, ...status() })
    case 'stop':
      return stop()
  }
}

async function stop(): Promise<void> {
  callers.rest()
  callers.leave()
  await breaker.close()
  await store.close()
  redis.disconnect()
  requests.close()
  endWatch()
  tell({ kind: 'end', ...status() })
  // From here on nothing of ours may keep the process alive.
  process.off('disconnect', exit)
  process.disconnect()
}

function status(): Status {
  const { state, fence } = breaker.stats()
  return { state, fence, counts: callers.counts }
}

function exit(): void {
  process.exit(1)
}

function tell(report: Untimed<Report>): void {
  // Nobody is there to be told any more when this fails.
  process.send?.({ at: Date.now(), ...report }, () => {})
}

function tellUnexpected(error: unknown): void {
  tell({ kind: 'unexpected', error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
}
