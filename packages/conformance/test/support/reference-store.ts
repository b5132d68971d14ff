import {
  type CircuitSnapshot,
  type CircuitState,
  type CircuitWindow,
  fenceDigits,
  fleetSpanMs,
  idleLeaseMs,
  isFence,
  mintFence,
  type RecordAnswer,
  type Store,
  type StoreSupports,
  SWAPS,
  type SwapAnswer,
  type Tally,
  type Terms,
  type WindowCounters,
  windowSpanMs,
} from '@tidegate/contract'
import type { Fault } from './faults'
import { type CacheRow, referenceCache } from './reference-cache'
import { type LeaseRow, referenceLeases } from './reference-leases'
import { type LimitRow, referenceLimits } from './reference-limits'
import { STUMBLES } from './stumbles'

interface Counted {
  at: number
  instance: string
  tally: Tally
}

interface Row {
  state: CircuitState
  fence: string
  wonBy?: string | undefined
  openedAt?: number | undefined
  probeAfter?: number | undefined
  since: number
  trips: number
  trippedBy?: string
  probe?: { owner: string; until: number } | undefined
  probeSuccesses: number
  expiresAt: number
  touched: Map<string, number>
  seqs: Map<string, number>
  refused: Set<string>
  won: Set<string>
  lost: Set<string>
  counted: Counted[]
  window?: string
}

type Listener = { owner: object; name: string; call: (snapshot: CircuitSnapshot) => void }

/** Where all that one server keeps lies: plain data, so that a failover can take it back. */
export class Server {
  rows: Map<string, Row> = new Map()
  limits: Map<string, LimitRow> = new Map()
  leases: Map<string, LeaseRow> = new Map()
  cache: Map<string, CacheRow> = new Map()
  listeners: Listener[] = []
  /** Where a store counts that keeps no window for each circuit. */
  readonly oneWindow: Counted[] = []
  readonly startMicros: number
  micros: number
  constructor(epochMs: number) {
    this.startMicros = epochMs * 1000
    this.micros = this.startMicros
  }

  /** A real clock never stands still between two commands; this one moves by a microsecond. */
  tick(): number {
    return ++this.micros / 1000
  }

  /** Goes on as it was before, once `write` is through. */
  async loseWrites(write: () => Promise<void>): Promise<void> {
    const { rows, limits, leases, cache } = this
    const kept = structuredClone({ rows, limits, leases, cache })
    await write()
    Object.assign(this, kept)
  }

  flush(): void {
    for (const kept of [this.rows, this.limits, this.leases, this.cache]) kept.clear()
  }
}

/**
 * The contract once more, as a server would keep it: by the letter, without a
 * thought for speed, and with faults that can be asked for. It remembers every
 * tally and counts them anew for each answer.
 */
export function referenceStore(server: Server, supports: StoreSupports, faults: ReadonlySet<Fault>): Store {
  const has = (fault: Fault): boolean => faults.has(fault)
  const escaped = (name: string): string => {
    if (has('escapes names badly')) return name.replace(/[{}]/g, '')
    return has('folds case') ? name.toLowerCase() : name
  }

  const mint = (previous: string | undefined, now: number, nonce: string, won: boolean): string => {
    const digits = previous === undefined ? 0 : fenceDigits(previous)
    if (has('counts fences without a clock')) return mintFence(digits, 0, won ? nonce : `~${nonce}`)
    if (has('forgets the digits before')) return mintFence(0, now * 1000, won ? nonce : `~${nonce}`)
    if (has('rounds its digits')) return mintFence(0, Math.floor(now / 1e4) * 1e7, won ? nonce : `~${nonce}`)
    if (has('begins again at the digits it began with') && previous === undefined)
      return mintFence(0, server.startMicros, `~${nonce}`)
    if (has('creates all circuits under one fence') && previous === undefined)
      return mintFence(0, server.startMicros, '~created')
    if (has('numbers its periods')) return mintFence(digits, server.startMicros, 'period')
    if (has('leaves the nonce out of fences')) return mintFence(digits, now * 1000, 'same')
    if (has('lets who creates win')) return mintFence(digits, now * 1000, nonce)
    return mintFence(digits, now * 1000, won ? nonce : `~${nonce}`)
  }

  const touch = (name: string, terms: Terms, now: number, kind: 'read' | 'swap' | 'record'): Row => {
    for (const [what, trips] of Object.entries(STUMBLES))
      if (has(`stumbles over ${what}`) && trips(name)) throw new Error('a name')
    let row = server.rows.get(escaped(name))
    const isGone = row !== undefined && now >= row.expiresAt
    const stays =
      has('keeps everything') || (row?.state === 'isolated' && !has('lets isolated circuits expire'))
    if (isGone && !stays) row = undefined
    if (row === undefined) {
      row = {
        state: 'closed',
        fence: mint(undefined, now, terms.nonce, false),
        since: now,
        trips: 0,
        probeSuccesses: 0,
        expiresAt: 0,
        touched: new Map(),
        seqs: new Map(),
        refused: new Set(),
        won: new Set(),
        lost: new Set(),
        counted: has('keeps one window for all') ? server.oneWindow : [],
      }
      if (has('lets who creates win')) row.wonBy = terms.nonce
      server.rows.set(escaped(name), row)
    }
    const lease = has('keeps exactly as long as the cooldown')
      ? Math.max(fleetSpanMs(terms.window), terms.cooldownMs)
      : idleLeaseMs(terms)
    if (!(has('renews by reads alone') && kind !== 'read')) {
      const before = has('shortens leases') ? 0 : row.expiresAt
      row.expiresAt = Math.max(before, now + (has('keeps idle circuits too shortly') ? lease / 2 : lease))
    }
    if (!(has('counts readers out of the fleet') && kind === 'read')) row.touched.set(terms.instance, now)
    return row
  }

  const snapshotOf = (row: Row, terms: Terms, now: number): CircuitSnapshot => {
    const span = has('counts the fleet by the window alone')
      ? windowSpanMs(terms.window) / 2
      : fleetSpanMs(terms.window)
    const minute = has('counts the fleet by the minute alone') ? 60_000 : span
    const fleet = has('never forgets an instance')
      ? row.touched.size
      : [...row.touched.values()].filter((at) => now - at <= minute).length
    const decays = row.state === 'closed' || has('decays trips in any state')
    const isDecayed = decays && now - row.since >= windowSpanMs(terms.window) && !has('never forgets trips')
    const answer: Record<string, unknown> = {
      state: row.state,
      fence: row.fence,
      trips: isDecayed ? 0 : row.trips,
      probeSuccesses: row.probeSuccesses,
      fleet,
      now: has('stands still') ? 1 : now,
    }
    if (row.openedAt !== undefined) answer.openedAt = row.openedAt
    if (row.probeAfter !== undefined) answer.probeAfter = row.probeAfter
    if (row.probe !== undefined) answer.probe = { ...row.probe }
    return answer as unknown as CircuitSnapshot
  }

  const isLate = (terms: Terms, now: number): boolean =>
    terms.deadline !== undefined &&
    now > terms.deadline - (has('judges deadlines a minute early') ? 60_000 : 0) &&
    !has('ignores deadlines')

  const decide = (row: Row, from: CircuitState, to: CircuitState, terms: Terms, now: number): boolean => {
    const isLapsed = row.probe !== undefined && now >= row.probe.until
    if (to !== 'half-open') return !(isLapsed && has('takes no verdict once the lease ran out'))
    if (from === 'open') {
      if (has('lends to who tripped it alone') && row.trippedBy !== terms.instance) return false
      const cooled = has('takes the cooldown of the prober')
        ? (row.openedAt ?? 0) + terms.cooldownMs
        : (row.probeAfter ?? 0)
      return now >= cooled || has('claims before probeAfter')
    }
    if (terms.yield) {
      if (row.probe === undefined) return has('yields what lies free')
      const takesAnyYield = has('yields what is another’s') || has('lets anyone yield whatever the fence')
      return row.probe.owner === terms.owner || takesAnyYield
    }
    if (row.probe === undefined) return true
    if (has('never lends a lapsed permit')) return false
    return now >= row.probe.until || has('moves a permit under its lease')
  }

  const apply = (row: Row, to: CircuitState, terms: Terms, now: number): void => {
    const trips = snapshotOf(row, terms, now).trips
    const kept = { fence: row.fence, state: row.state }
    if (to === 'open') {
      row.trips = has('counts no second trip') ? 1 : trips + (has('counts the first trip as none') ? 0 : 1)
      row.trippedBy = terms.instance
      row.openedAt = has('opens by the clock of its caller') ? Date.now() : now
      row.probeAfter = now + (has('starts cooldowns late') ? 2 : 1) * terms.cooldownMs
      if (has('forgets trips on closing') && kept.state === 'closed') row.trips = 1
    } else if (to !== 'half-open') {
      row.trips = trips
      if (!has('keeps openedAt')) {
        row.openedAt = undefined
        row.probeAfter = undefined
      }
    } else if (has('drops openedAt while half-open')) row.openedAt = undefined
    const begins = to !== 'half-open' || row.state === 'open'
    if (begins && !has('keeps probe successes')) row.probeSuccesses = 0
    if (to === 'half-open' && terms.yield && (terms.succeeded || has('counts each yield')))
      row.probeSuccesses++
    if (to === 'half-open' && !terms.yield) {
      row.probe = {
        owner: terms.owner as string,
        until: now + (has('lends for too long') ? 2 : 1) * terms.leaseMs,
      }
    } else row.probe = has('yields nothing') && terms.yield ? row.probe : undefined
    if (to === 'closed' && row.state !== 'closed') row.since = now
    if (to === 'isolated' && has('keeps what was isolated once')) row.expiresAt = Number.POSITIVE_INFINITY
    row.state = to
    const keepsFence =
      has('keeps the fence when the permit moves') && kept.state === 'half-open' && to === 'half-open'
    if (!keepsFence) row.fence = mint(row.fence, now, terms.nonce, true)
    row.wonBy = terms.nonce
    row.won.add(terms.nonce)
    row.refused.clear()
    const keeps =
      has('keeps counts over a swap') ||
      (has('keeps counts over every third trip') && to === 'open' && row.trips % 3 === 0)
    if (!keeps) row.counted = []
    if (has('forgets the fleet with a swap')) row.touched = new Map([[terms.instance, now]])
  }

  const tell = (name: string, snapshot: CircuitSnapshot): void => {
    const all = has('tells everybody of everything')
    for (const { owner, name: wanted, call } of [...server.listeners]) {
      if (wanted !== name && !all) continue
      if (owner !== store && has('pushes to its own process alone')) continue
      try {
        call(has('pushes nothing but the state') ? { ...snapshot, fence: '' } : snapshot)
      } catch (error) {
        if (has('lets listeners break a swap')) throw error
      }
    }
  }

  const store: Store = {
    supports: has('declares another push') ? { ...supports, push: !supports.push } : supports,
    ready: () => !has('is never ready'),
    ping() {},
    async close() {},
    limits: referenceLimits(server, faults),
    leases: referenceLeases(server, faults),
    cache: referenceCache(server, faults),
    circuits: {
      async readState(name, terms): Promise<CircuitSnapshot> {
        const now = server.tick()
        if (has('creates for each who comes by') && !server.rows.has(escaped(name))) {
          await Promise.resolve()
          server.rows.delete(escaped(name))
        }
        const row = touch(name, terms, now, 'read')
        if (has('mints a fence for each reader')) row.fence = mint(row.fence, now, terms.nonce, true)
        return snapshotOf(row, terms, now)
      },

      async compareAndSet(name, from, to, fence, terms): Promise<SwapAnswer> {
        if (!isFence(fence) && !has('takes any fence')) throw new TypeError('fence')
        const now = server.tick()
        const row = touch(name, terms, now, 'swap')
        const answer = (ok: boolean): SwapAnswer => ({ ok, snapshot: snapshotOf(row, terms, now) })
        if (has('remembers wins for good') && row.won.has(terms.nonce) && row.state === to)
          return answer(true)
        if (row.wonBy === terms.nonce && row.state === to && !has('refuses what landed')) {
          if (has('lands what landed')) apply(row, to, terms, now)
          if (has('clears the window on a repeat')) row.counted = []
          if (has('counts a success with each repeat') && terms.succeeded) row.probeSuccesses++
          if (has('ignores repeats past their deadline') && isLate(terms, now)) return answer(false)
          return answer(true)
        }
        const opensAnyway = has('opens whatever the fence') && to === 'open'
        const yieldsAnyway = has('lets anyone yield whatever the fence') && terms.yield === true
        const landsAnyway = has('lands what lost on its repeat') && row.lost.has(terms.nonce)
        row.lost.add(terms.nonce)
        const knowsFence =
          row.fence === fence ||
          has('ignores the fence') ||
          (has('takes any fence') && !isFence(fence)) ||
          opensAnyway ||
          yieldsAnyway ||
          landsAnyway
        const state = has('ignores the state') || opensAnyway ? row.state : from
        const tripsAgain = has('trips what is open') && state === 'open' && to === 'open'
        const listed = SWAPS[state].includes(to) && !has(`refuses ${from} -> ${to}`)
        const lands = listed || tripsAgain || has(`lands ${from} -> ${to}`)
        if (!knowsFence || state !== row.state || !lands) {
          if (has('throws at a lost swap')) throw new Error('the circuit is another one')
          if (has('clears the window where it refuses')) row.counted = []
          return answer(false)
        }
        if (row.refused.has(terms.nonce) && !has('forgets what it refused')) return answer(false)
        if (isLate(terms, now)) return answer(false)
        if (has('awaits before it writes')) await Promise.resolve()
        if (!decide(row, state, to, terms, now)) {
          row.refused.add(terms.nonce)
          if (has('mistakes one refusal for all'))
            row.refused = { has: () => true, add() {}, clear() {} } as never
          return answer(false)
        }
        apply(row, to, terms, now)
        const landed = answer(true)
        if (!has('pushes nothing')) tell(name, landed.snapshot)
        return landed
      },

      async record(name, fence, tally, terms): Promise<RecordAnswer> {
        const now = server.tick()
        const row = touch(name, terms, now, 'record')
        const seqOf = has('numbers tallies for all instances') ? 'all' : terms.instance
        const isRepeat = has('knows only the last tally')
          ? tally.seq === row.seqs.get(seqOf)
          : tally.seq <= (row.seqs.get(seqOf) ?? -1)
        let counted = row.fence === fence || has('counts under any fence')
        if (counted && isRepeat && !has('counts repeats')) {
          const isTooLate = has('refuses a counted tally past its deadline') && isLate(terms, now)
          if (has('refuses repeated tallies') || isTooLate) counted = false
        } else if (counted && isLate(terms, now) && !has('ignores the deadlines of tallies')) counted = false
        else if (counted) {
          if (
            has('throws at another window') &&
            row.counted.some(({ tally: one }) => kindOf(one) !== terms.window.kind)
          ) {
            throw new Error('WRONGTYPE')
          }
          if (has('throws at a window of another size') && row.window !== JSON.stringify(terms.window)) {
            if (row.window !== undefined) throw new Error('another window')
            row.window = JSON.stringify(terms.window)
          }
          row.seqs.set(seqOf, tally.seq)
          if (has('starts its window over')) {
            const [first] = row.counted
            if (first && terms.window.kind === 'time' && now - first.at > terms.window.ms) row.counted = []
          }
          if (has('counts nothing')) counted = false
          else if (has('awaits before it counts')) {
            const before = row.counted
            await Promise.resolve()
            row.counted = [...before, { at: now, instance: terms.instance, tally }]
          } else
            row.counted.push({ at: now, instance: terms.instance, tally: withKind(tally, terms.window.kind) })
        }
        const empty = row.fence === fence ? row.counted : []
        const changes = counted && !isRepeat
        const lastCount = row.counted.at(-1)?.at ?? now
        const counters = countersOf(
          has('answers no counters to the late') ? empty : row.counted,
          terms.window,
          has('forgets only when it counts') && !changes ? lastCount : now,
          has,
        )
        return { counted, snapshot: snapshotOf(row, terms, now), counters }
      },

      async forget(name): Promise<void> {
        const row = server.rows.get(escaped(name))
        if (has('resets what it is told to forget')) server.limits.delete(name)
        if (row?.state === 'isolated' && has('keeps isolated circuits when told to forget')) return
        if (row === undefined && has('throws where there is nothing to forget'))
          throw new Error('no such key')
        if (row && has('forgets the state alone'))
          Object.assign(row, { state: 'closed', openedAt: undefined })
        else server.rows.delete(escaped(name))
      },

      subscribe(name, call) {
        const own: Listener = { owner: store, name, call }
        server.listeners.push(own)
        return () => {
          if (has('cannot unsubscribe')) return
          if (has('unsubscribes everybody')) server.listeners = []
          server.listeners = server.listeners.filter((listener) => listener !== own)
        }
      },
    },
  }
  if (has('has no limits')) delete (store as { limits?: unknown }).limits
  if (has('has no leases')) delete (store as { leases?: unknown }).leases
  if (has('has no subscribe')) delete store.circuits.subscribe
  return store
}

const kinds = new WeakMap<Tally, CircuitWindow['kind']>()

function withKind(tally: Tally, kind: CircuitWindow['kind']): Tally {
  kinds.set(tally, kind)
  return tally
}

function kindOf(tally: Tally): CircuitWindow['kind'] | undefined {
  return kinds.get(tally)
}

/** Counts from the tallies themselves; outcomes in a tally are failures, successes, trailing failures. */
function countersOf(
  counted: readonly Counted[],
  window: CircuitWindow,
  now: number,
  has: (fault: Fault) => boolean,
): WindowCounters {
  const keepsMs = window.kind === 'time' ? window.ms * (has('counts beyond the window') ? 1.5 : 1) : 0
  const shortMs = has('counts less than the window') ? 0.7 * keepsMs : keepsMs
  const latest = Math.max(0, ...counted.map(({ at }) => at))
  const since = has('counts nothing before its latest moment') ? latest : now
  const inTime = window.kind === 'time' ? counted.filter(({ at }) => since - at <= shortMs) : counted
  let outcomes = inTime.flatMap(({ instance, tally }) => {
    const { successes, failures, trailingFailures: trailing } = tally
    const order = [...fill(failures - trailing, true), ...fill(successes, false), ...fill(trailing, true)]
    return order.map((failed, index) => ({ instance, failed, slow: index >= order.length - tally.slow }))
  })
  if (window.kind === 'count')
    outcomes = outcomes.slice(-window.calls - (has('counts a call too many') ? 1 : 0))
  const lastSuccess = outcomes.findLastIndex(({ failed }) => !failed)
  const run = has('ignores trailing failures')
    ? (inTime.at(-1)?.tally.failures ?? 0)
    : outcomes.slice(lastSuccess + 1).length
  const reporting =
    window.kind === 'consecutive' && !has('keeps reporters after a success')
      ? outcomes.slice(lastSuccess + 1)
      : outcomes
  const failures = outcomes.filter(({ failed }) => failed)
  const timed = has('forgets runs with time')
    ? inTime.some(({ at, tally }) => tally.failures > 0 && now - at < 60_000)
    : true
  return {
    successes: outcomes.length - failures.length,
    failures: failures.length,
    slow: has('counts no slow calls') ? 0 : outcomes.filter(({ slow }) => slow).length,
    consecutiveFailures: timed ? run : 0,
    reporters: new Set(
      reporting
        .filter(({ failed }) => failed)
        .map(({ instance }) => (has('cuts instances at a bar') ? instance.split('|')[0] : instance)),
    ).size,
  }
}

function fill(length: number, failed: boolean): boolean[] {
  return new Array<boolean>(length).fill(failed)
}
