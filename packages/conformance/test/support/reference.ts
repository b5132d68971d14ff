import type { StoreSupports } from '@tidegate/contract'
import type { Harness } from '../../src'
import type { Fault } from './faults'
import { referenceStore, Server } from './reference-store'

const SUPPORTS: StoreSupports = { windows: ['time', 'consecutive', 'count'], push: true, shared: false }

const START = Date.UTC(2026, 0, 1)

/** The reference store with every hook there is, on a clock set by hand. */
export function reference(faults: readonly Fault[] = [], over: Partial<Harness> = {}): Harness {
  const wrong = new Set(faults)
  const supports = over.supports ?? SUPPORTS
  let server: Server
  const pass = (ms: number): void => {
    server.micros += Math.round(ms * 1000)
  }
  return {
    name: 'reference',
    supports,
    create() {
      server = new Server(START)
      return referenceStore(server, supports, wrong)
    },
    hooks: {
      advance: pass,
      leap: pass,
      stepClock: pass,
      expire: (name) => server.rows.delete(name),
      flush: () => server.flush(),
      loseWrites: (write) => server.loseWrites(write),
      peer: () => referenceStore(wrong.has('shares nothing') ? new Server(START) : server, supports, wrong),
    },
    print() {},
    patienceMs: 30,
    seed: 20_260_101,
    ...over,
  }
}
