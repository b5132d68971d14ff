import {
  checkFence,
  checkLeaseMs,
  checkLeaseRequest,
  checkName,
  checkOwner,
  type LeaseStore,
  mintFence,
} from '@tidegate/contract'
import type { Fault } from './faults'
import type { Server } from './reference-store'
import { STUMBLES } from './stumbles'

export interface LeaseRow {
  digits: number
  last: number
  lag: number
  expiresAt: number
  /** The first that anybody came with. */
  limit?: number
  holders: Map<string, { until: number; fence: string }>
  /** The latest of each owner. */
  fences: Map<string, string>
}

/** So long a name is remembered after its last touch, for its fences to go on growing. */
const KEPT_MS = 120_000

/** The contract of leases by the letter, with faults that can be asked for. */
export function referenceLeases(server: Server, faults: ReadonlySet<Fault>): LeaseStore {
  const has = (fault: Fault): boolean => faults.has(fault)

  const escaped = (name: string): string => {
    for (const [what, trips] of Object.entries(STUMBLES))
      if (has(`stumbles over a leased name of ${what}`) && trips(name)) throw new Error('a name')
    if (has('escapes leased names badly')) return name.replace(/[{}]/g, '')
    return has('lends all names one row') ? 'all' : name
  }

  const ownerOf = (owner: string): string => (has('folds the case of owners') ? owner.toLowerCase() : owner)

  /** The row, without the holdings that ran out. */
  const open = (name: string, leaseMs: number): { row: LeaseRow; now: number; micros: number } => {
    const micros = Math.floor(server.tick() * 1000)
    const clock = Math.floor(micros / 1000)
    const id = escaped(name)
    let row = server.leases.get(id)
    if (row && clock + row.lag < row.last && !has('blocks slots while its clock is behind')) {
      if (has('frees slots where its clock was set back')) row.holders.clear()
      row.lag += row.last - (clock + row.lag)
    }
    if (!row || clock + row.lag >= row.expiresAt) {
      const digits = has('begins names at the digits it began with') ? server.startMicros - 1 : 0
      row = { digits, last: clock, lag: 0, expiresAt: 0, holders: new Map(), fences: new Map() }
      server.leases.set(id, row)
    }
    const now = clock + row.lag
    row.last = has('blocks slots while its clock is behind') ? row.last : now
    const most = has('keeps no lease beyond an hour') ? 3_600_000 : Number.POSITIVE_INFINITY
    const lease = has('forgets a name with its shortest lease') ? leaseMs : Math.max(KEPT_MS, 2 * leaseMs)
    row.expiresAt = has('forgets a name with its shortest lease')
      ? now + lease
      : Math.max(row.expiresAt, now + Math.min(most, lease))
    for (const [owner, { until }] of [...row.holders]) {
      if (now >= until && !has('never frees a slot')) row.holders.delete(owner)
    }
    if (has('forgets a name that nobody holds') && row.holders.size === 0) row.digits = 0
    return { row, now, micros }
  }

  return {
    async acquire(name, request) {
      if (!has('takes any name')) checkName(name)
      if (!has('takes any request')) checkLeaseRequest(request)
      const { limit, leaseMs } = request
      const owner = ownerOf(request.owner)
      const { row, now, micros } = open(name, leaseMs)
      const held = row.holders.get(owner)
      if (held && !has('lends to an owner as often as it asks')) {
        if (has('refuses an owner that holds a slot')) {
          return { ok: false, fence: '', inUse: row.holders.size, retryAfterMs: held.until - now }
        }
        if (has('shortens a lease with a delivery')) held.until = now + leaseMs
        else if (!has('keeps the lease with a delivery')) held.until = Math.max(held.until, now + leaseMs)
        if (has('mints with each delivery')) held.fence = mintFence(row.digits++, micros, owner)
        return { ok: true, fence: held.fence, inUse: row.holders.size, retryAfterMs: 0 }
      }
      const inUse = row.holders.size
      if (has('awaits before it lends')) await Promise.resolve()
      const most = limit + (has('lends one more than the limit') ? 1 : 0)
      row.limit ??= most
      const isKnown = has('lends to who held a slot once') && row.fences.has(owner)
      if (isKnown || inUse < (has('takes the first limit for all') ? row.limit : most)) {
        const previous = has('forgets the digits of slots before') ? 0 : row.digits
        row.digits = Math.max(previous + 1, has('counts slots without a clock') ? 0 : micros)
        if (has('mints from the millisecond')) row.digits = now * 1000
        if (has('begins names at the digits it began with')) row.digits = previous + 1
        const nonce = has('leaves the owner out of fences') ? 'owner' : request.owner
        const before = row.fences.get(owner)
        const fence =
          has('remembers the fence of an owner') && before ? before : mintFence(row.digits - 1, 0, nonce)
        row.fences.set(owner, fence)
        const lease = has('lends for twice the lease') ? 2 * leaseMs : leaseMs
        const id = has('lends to an owner as often as it asks') ? `${owner}.${fence}` : owner
        row.holders.set(id, { until: now + lease, fence })
        const told = has('leaves the slot itself out of inUse') ? inUse : inUse + 1
        return { ok: true, fence, inUse: told, retryAfterMs: has('waits where it lends') ? leaseMs : 0 }
      }
      const untils = [...row.holders.values()].map(({ until }) => until)
      const next = has('waits for the last lease') ? Math.max(...untils) : Math.min(...untils)
      const shortened = has('waits for half a lease') ? Math.ceil((next - now) / 2) : next - now
      if (has('frees the oldest where none is free')) row.holders.delete([...row.holders.keys()][0] as string)
      return { ok: false, fence: '', inUse, retryAfterMs: shortened }
    },

    async renew(name, owner, fence, leaseMs) {
      if (!has('takes any name')) checkName(name)
      checkOwner(owner)
      if (!has('takes any slot’s fence')) checkFence(fence)
      if (!has('takes any lease')) checkLeaseMs(leaseMs)
      const id = escaped(name)
      const before = server.leases.get(id)?.holders.get(ownerOf(owner))
      const { row, now } = open(name, leaseMs)
      if (has('renews what ran out') && before && !row.holders.has(ownerOf(owner))) {
        row.holders.set(ownerOf(owner), before)
      }
      let held = row.holders.get(ownerOf(owner))
      if (has('renews what was never lent') && held === undefined) {
        held = { until: 0, fence }
        row.holders.set(owner, held)
      }
      const isUnread = has('takes any slot’s fence') && fence.length < 18
      if (held === undefined) return false
      if (held.fence !== fence && !has('renews whatever the fence') && !isUnread) return false
      if (!has('renews nothing')) held.until = Math.max(held.until, now + leaseMs)
      return !has('says that it renewed nothing')
    },

    async release(name, owner, fence) {
      if (!has('takes any name')) checkName(name)
      checkOwner(owner)
      if (!has('takes any slot’s fence')) checkFence(fence)
      const { row } = open(name, 1)
      if (has('releases nothing')) return
      if (has('throws at what is free') && !row.holders.has(owner)) throw new Error('no such slot')
      if (has('releases any slot')) row.holders.delete([...row.holders.keys()][0] as string)
      const held = row.holders.get(ownerOf(owner))
      if (held?.fence === fence || has('releases whatever the fence')) row.holders.delete(ownerOf(owner))
    },
  }
}
