import { type Harness, leftOut, storeConformance } from '@tidegate/conformance'
import type { CacheStore, LeaseStore, LimitStore, Store } from '@tidegate/contract'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../src'
import { handClock } from './support/clock'

const clock = handClock()

const harness: Harness = {
  name: 'memoryStore',
  supports: { windows: ['time', 'consecutive', 'count'], push: true, shared: false },
  create: () => replayable(),
  hooks: {
    advance: clock.advance,
    leap: clock.advance,
    stepClock: clock.advance,
    expire: (name, store) => void store.circuits.forget(name),
    flush: (store) => (store as Replayable).restart(0),
    async loseWrites(write, store) {
      const { commands } = store as Replayable
      await write()
      ;(store as Replayable).restart(commands)
    },
    // Nobody else shares it: the other process is this one.
    peer: (store) => ({ ...store, async close() {} }),
  },
}

storeConformance({ describe, it }, harness)

it('leaves nothing of the suite out', () => {
  expect(leftOut(harness, ['circuits', 'limits', 'leases', 'cache'])).toEqual([])
})

interface Replayable extends Store {
  readonly limits: LimitStore
  readonly leases: LeaseStore
  readonly cache: CacheStore
  /** How many commands it has seen. */
  readonly commands: number
  /** Begins anew and goes through the first so many commands again, each at its moment: what a replica would know. */
  restart(commands: number): void
}

function replayable(): Replayable {
  let time = clock.now()
  let replaying = false
  const make = () => memoryStore({ clock: { now: () => (replaying ? time : clock.now()) } })
  let inner = make()
  const log: { at: number; run: () => unknown }[] = []
  const logged = <T>(run: () => T): T => {
    log.push({ at: clock.now(), run })
    return run()
  }
  return {
    supports: inner.supports,
    get commands() {
      return log.length
    },
    restart(commands) {
      inner = make()
      replaying = true
      for (const { at, run } of log.splice(0).slice(0, commands)) {
        time = at
        logged(run)
      }
      replaying = false
      // Whatever ends a process takes longer than nothing.
      clock.advance(1)
    },
    ping: () => inner.ping(),
    close: () => inner.close(),
    circuits: {
      readState: (...args) => logged(() => inner.circuits.readState(...args)),
      compareAndSet: (...args) => logged(() => inner.circuits.compareAndSet(...args)),
      record: (...args) => logged(() => inner.circuits.record(...args)),
      forget: (...args) => logged(() => inner.circuits.forget(...args)),
      subscribe: (...args) => inner.circuits.subscribe?.(...args) ?? (() => {}),
    },
    limits: {
      consume: (...args) => logged(() => inner.limits.consume(...args)),
      peek: (...args) => logged(() => inner.limits.peek(...args)),
      settle: (...args) => logged(() => inner.limits.settle(...args)),
      reset: (...args) => logged(() => inner.limits.reset(...args)),
    },
    leases: {
      acquire: (...args) => logged(() => inner.leases.acquire(...args)),
      renew: (...args) => logged(() => inner.leases.renew(...args)),
      release: (...args) => logged(() => inner.leases.release(...args)),
    },
    cache: {
      get: (...args) => logged(() => inner.cache.get(...args)),
      set: (...args) => logged(() => inner.cache.set(...args)),
      delete: (...args) => logged(() => inner.cache.delete(...args)),
    },
  }
}
