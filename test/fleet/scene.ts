import { type RedisProxy, type RedisServer, startProxy, startRedis } from '../support/redis/index'
import { until } from '../support/until'
import { Bell } from './bell'
import type { BreakerOptions, InstanceConfig } from './config'
import { Dependency } from './dependency'
import { Fleet } from './fleet'
import type { Deafness, History } from './history'
import { Journal } from './journal'
import { HARNESS, type Status } from './reports'
import { watchStalls } from './stalls'

const PREFIX = 'fleet'

/** An instance that was without the store is one of the fleet within 2 s; on two busy cores it may be more. */
const AGREEMENT_MS = 10_000

export interface Plan {
  readonly breaker: BreakerOptions & History['options']
  /** What an instance is like, by its number. */
  readonly personality: (number: number) => Personality
  /** Whose way to Redis leads through the proxy. */
  readonly isBehindProxy: (number: number) => boolean
}

/** What of an instance does not follow from where it lives. */
type Personality = Omit<InstanceConfig, 'name' | 'way' | 'prefix' | 'breaker' | 'dependencyPort'>

/** A Redis with one circuit in it, the dependency that the circuit is of, and a fleet that has yet to be added. */
export interface Scene extends AsyncDisposable {
  readonly bell: Bell
  readonly redis: RedisServer
  readonly proxy: RedisProxy
  readonly dependency: Dependency
  readonly journal: Journal
  readonly fleet: Fleet
  /** The instances whose way to Redis leads through the proxy. */
  behindProxy(): string[]
  /** When instances could hear late, or not at all; whoever sees to that writes it down. */
  readonly deafness: Deafness[]
  /** Resolves, with how they see it, when all who are running see the circuit as the journal does, and closed. */
  agreement(): Promise<ReadonlyMap<string, Status>>
  history(finals: ReadonlyMap<string, Status>): History
}

export async function startScene({ breaker, personality, isBehindProxy }: Plan): Promise<Scene> {
  const bell: Bell = new Bell(() => seen())
  const redis = await startRedis()
  const proxy = await startProxy(redis.port)
  const journal = await Journal.open(redis, { prefix: PREFIX, name: breaker.name }, bell)
  const dependency = new Dependency(bell)
  const dependencyPort = await dependency.listen()
  const deafness: Deafness[] = []
  const fleet = new Fleet(bell, (number) => ({
    ...personality(number),
    way: { kind: 'single', port: isBehindProxy(number) ? proxy.port : redis.port },
    prefix: PREFIX,
    breaker,
    dependencyPort,
  }))

  const endWatch = watchStalls((from) => {
    fleet.tellings.push({ instance: HARNESS, report: { kind: 'stall', at: Date.now(), from } })
  })

  const seen = (): string => {
    const tail = <T>(all: readonly T[]) => all.slice(-12).map((one) => JSON.stringify(one))
    const told = fleet.tellings.filter(({ report }) => report.kind !== 'stall' && report.kind !== 'status')
    return [
      `members ${fleet.members.map(({ name, state }) => `${name} ${state}`).join(', ')}`,
      `weather ${dependency.weather}`,
      ...['', 'periods', ...tail(journal.periods)],
      ...['', 'tellings', ...tail(told)],
    ].join('\n  ')
  }

  const agreement = async (): Promise<ReadonlyMap<string, Status>> => {
    let statuses: ReadonlyMap<string, Status> = new Map()
    const isAgreed = async (): Promise<boolean> => {
      statuses = await fleet.statuses()
      const { last } = journal
      if (last?.state !== 'closed') return false
      return [...statuses.values()].every(({ state, fence }) => state === 'closed' && fence === last.fence)
    }
    try {
      await until('the fleet to agree', isAgreed, AGREEMENT_MS)
    } catch (error) {
      throw new Error(`${(error as Error).message}; seen: ${seen()}`)
    }
    return statuses
  }

  return {
    bell,
    redis,
    proxy,
    dependency,
    journal,
    fleet,
    behindProxy: () => fleet.members.map(({ name }) => name).filter((_, number) => isBehindProxy(number)),
    deafness,
    agreement,
    history: (finals) => ({
      periods: journal.periods,
      visits: dependency.visits,
      tellings: fleet.tellings,
      finals,
      options: breaker,
      deafness,
    }),
    async [Symbol.asyncDispose]() {
      endWatch()
      await fleet.stop()
      dependency.close()
      journal.close()
      await proxy.stop()
      await redis.stop()
    },
  }
}
