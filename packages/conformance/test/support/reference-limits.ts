import {
  capacityOf,
  checkCost,
  checkKey,
  checkQuotas,
  formatReservation,
  type LimitDecision,
  type LimitStore,
  MAX_SETTLED,
  parseReservation,
  type Quota,
  type QuotaState,
  WINDOW_SLICES,
} from '@tidegate/contract'
import type { Fault } from './faults'
import type { Server } from './reference-store'
import { STUMBLES } from './stumbles'

/** What was consumed of one quota, and when: enough for any algorithm. */
interface Slot {
  /** gcra: the level at `at`, times the window. */
  level: number
  at: number
  /** sliding-window, and fixed-window: in each slice, or window, its stamp and how much. */
  entries: { at: number; count: number }[]
}

export interface LimitRow {
  born: number
  seq: number
  settled: number[]
  settledFloor: number
  last: number
  lag: number
  slots: Map<string, Slot>
  expiresAt: number
  /** The latest cost. */
  latest?: number
}

/** The contract of limits by the letter, with faults that can be asked for. */
export function referenceLimits(server: Server, faults: ReadonlySet<Fault>): LimitStore {
  const has = (fault: Fault): boolean => faults.has(fault)

  if (has('keeps limits when it is flushed')) server.limits.clear = () => {}

  const escaped = (key: string): string => {
    for (const [what, trips] of Object.entries(STUMBLES))
      if (has(`stumbles over a key of ${what}`) && trips(key)) throw new Error('a key')
    if (has('escapes keys badly')) return key.replace(/[{}]/g, '')
    if (has('folds the case of keys')) return key.toLowerCase()
    return has('keeps one state for all keys') ? 'all' : key
  }

  const check = (key: string, quotas: readonly Quota[], cost: number): void => {
    try {
      if (!has('takes any key')) checkKey(key)
      if (!has('takes any quotas')) checkQuotas(quotas)
      if (!has('takes any cost')) checkCost(cost, quotas)
    } catch (error) {
      const slots = server.limits.get(key)?.slots.values() ?? []
      if (has('consumes what it refuses')) for (const slot of slots) slot.level *= 2
      throw error
    }
  }

  /** The row and its time; a row of its own, which nobody else sees, where there is none. */
  const open = (key: string): { row: LimitRow; now: number } => {
    const clock = Math.floor(server.tick())
    let row = server.limits.get(escaped(key))
    if (row !== undefined && clock + row.lag < row.last && !has('blocks while its clock is behind')) {
      if (has('begins anew where its clock was set back')) row = undefined
      else row.lag += row.last - (clock + row.lag)
    }
    const now = clock + (row?.lag ?? 0)
    const stays = has('counts no more than half a day at a time')
    if (row === undefined || (now >= row.expiresAt && !stays)) {
      row = {
        born: has('numbers no lives') ? 1 : Math.floor(server.tick() * 1000),
        seq: 0,
        settled: [],
        settledFloor: 0,
        last: clock,
        lag: 0,
        slots: new Map(),
        expiresAt: 0,
      }
      return { row, now: clock }
    }
    return { row, now }
  }

  const slotOf = (row: LimitRow, quota: Quota): Slot => {
    const { name, algorithm, windowMs, limit, burst } = quota
    const parts: unknown[] = [has('keeps one state for all names') ? '' : name]
    if (has('cuts names at a bar')) parts[0] = name.split('|')[0]
    if (has('folds the case of names')) parts[0] = name.toLowerCase()
    if (!has('takes one algorithm for another')) parts.push(algorithm)
    if (!has('goes on in another window')) parts.push(windowMs)
    if (has('begins anew with another limit')) parts.push(limit)
    if (has('begins anew with another burst')) parts.push(burst)
    const id = JSON.stringify(parts)
    const kept = row.slots.get(id)
    if (kept !== undefined) return kept
    if (has('keeps but eight quotas') && row.slots.size >= 8) row.slots.clear()
    if (has('keeps but four quotas') && row.slots.size >= 4) row.slots.clear()
    const slot: Slot = { level: 0, at: 0, entries: [] }
    if (has('forgets the window before')) {
      for (const other of [...row.slots.keys()])
        if (other.startsWith(id.slice(0, id.lastIndexOf(',')))) row.slots.delete(other)
    }
    row.slots.set(id, slot)
    return slot
  }

  /** Takes away what time has made up for. */
  const drain = (slot: Slot, { algorithm, limit, windowMs }: Quota, now: number): void => {
    if (has('forgets nothing with time')) return
    const shortest = has('counts no more than half a day at a time') ? 43_200_000 : Number.POSITIVE_INFINITY
    const elapsed = Math.min(shortest, Math.max(0, now - slot.at))
    if (algorithm === 'gcra') {
      const rate = has('drains too fast') ? 1.5 * limit : limit
      slot.level = Math.max(0, slot.level - elapsed * rate)
      slot.at = Math.max(slot.at, now)
    } else {
      const early = has('frees a window too early') ? 0.6 : 1
      const isOver = (at: number): boolean => Math.min(shortest, now - at) >= early * windowMs
      const slides = algorithm === 'sliding-window' && !has('slides no window')
      const begins = has('begins windows on round moments')
        ? Math.floor((slot.entries[0]?.at ?? 0) / windowMs) * windowMs
        : (slot.entries[0]?.at ?? 0)
      if (slides) slot.entries = slot.entries.filter(({ at }) => !isOver(at))
      else if (isOver(begins)) slot.entries = []
    }
  }

  /** Which slice of a window a moment falls into; each its own in a store that is exact, which is no fault. */
  const sliceOf = (at: number, { windowMs }: Quota): number =>
    has('keeps each moment of a window') ? at : Math.floor((at * WINDOW_SLICES) / windowMs)

  /** What is held, in the unit of costs. */
  const heldOf = (slot: Slot, { algorithm, windowMs }: Quota): number =>
    algorithm === 'gcra' ? slot.level / windowMs : slot.entries.reduce((sum, { count }) => sum + count, 0)

  const capacity = (quota: Quota): number => {
    if (quota.algorithm !== 'gcra') return quota.limit
    if (has('takes the limit for the burst')) return quota.limit
    return has('takes no burst below the limit')
      ? Math.max(quota.limit, capacityOf(quota))
      : capacityOf(quota)
  }

  const fits = (slot: Slot, quota: Quota, cost: number): boolean => {
    const held = heldOf(slot, quota)
    const most = capacity(quota) + (has('allows one more than the limit') ? 1 : 0)
    if (cost === 0 && has('denies a cost of nothing with nothing left')) return held < most
    if (cost === 0 && has('allows a cost of nothing in debt')) return true
    return held + cost <= most - (has('never allows the last one') ? 1 : 0)
  }

  const consume = (slot: Slot, quota: Quota, cost: number, now: number): void => {
    const amount = cost === 0 && has('counts a cost of nothing as 1') ? 1 : cost
    const last = slot.entries.at(-1)
    if (quota.algorithm === 'gcra') {
      slot.level += amount * quota.windowMs
      slot.at = now
    } else if (quota.algorithm === 'fixed-window' && last) last.count += amount
    else if (last && sliceOf(last.at, quota) === sliceOf(now, quota)) {
      last.at = now
      last.count += amount
    } else slot.entries.push({ at: now, count: amount })
  }

  const retryAfterMs = (slot: Slot, quota: Quota, cost: number, now: number): number => {
    const { algorithm, limit, windowMs } = quota
    if (cost > capacity(quota)) return has('knows no never') ? windowMs : Number.POSITIVE_INFINITY
    if (has('tells too long a wait')) return 1.25 * windowMs
    if (has('tells too short a wait')) return Math.ceil(windowMs / 20)
    if (algorithm === 'gcra') {
      const spare = has('waits for all of a burst') ? 0 : (capacity(quota) - cost) * windowMs
      return Math.ceil((slot.level - spare) / limit)
    }
    if (algorithm === 'fixed-window' || has('slides no window'))
      return (slot.entries[0]?.at ?? now) + windowMs - now
    const missing = heldOf(slot, quota) + cost - capacity(quota)
    let freed = 0
    const frees = slot.entries.find(({ count }) => {
      freed += count
      return freed >= missing
    })
    const awaited = has('waits for the first alone') ? slot.entries[0] : frees
    return (awaited?.at ?? now) + windowMs - now
  }

  const stateOf = (slot: Slot, quota: Quota, now: number): QuotaState => {
    const { name, algorithm, limit, windowMs } = quota
    const held = heldOf(slot, quota)
    const first = slot.entries[0]?.at ?? now
    const last = slot.entries.findLast(({ count }) => count > 0)?.at ?? now
    const from = algorithm === 'fixed-window' || has('resets with the first') ? first : last
    let resetMs = algorithm === 'gcra' ? Math.ceil(slot.level / limit) : from + windowMs - now
    if (held === 0) resetMs = 0
    if (has('tells the window for its reset')) resetMs = windowMs
    if (has('tells the moment of its reset') && resetMs > 0) resetMs += now
    if (has('is reset too early')) resetMs = Math.floor(resetMs / 2)
    return { name, limit, remaining: Math.max(0, Math.floor(capacity(quota) - held)), resetMs }
  }

  const decide = (
    { row, now }: { row: LimitRow; now: number },
    quotas: readonly Quota[],
    cost: number,
    consumes: boolean,
  ): LimitDecision => {
    const slots = quotas.map((quota) => {
      const slot = slotOf(row, quota)
      drain(slot, quota, now)
      return { slot, quota }
    })
    const violating = slots.filter(({ slot, quota }) => !fits(slot, quota, cost))
    const waits = violating.map(({ slot, quota }) => retryAfterMs(slot, quota, cost, now))
    const named = has('names all quotas') && violating.length > 0 ? slots : violating
    const allowed = violating.length === 0
    const consumed = slots.filter(({ slot, quota }) => {
      if (has('consumes what it denies')) return true
      return allowed || (has('consumes quota by quota') && fits(slot, quota, cost))
    })
    if (consumes) for (const { slot, quota } of consumed) consume(slot, quota, cost, now)
    if (consumes && allowed) row.seq++
    const { born, seq } = row
    const reserves = (consumes || has('reserves with a peek')) && (allowed || has('reserves with a denial'))
    const states = slots.map(({ slot, quota }) => stateOf(slot, quota, now))
    if (has('sorts quotas')) states.sort((a, b) => (a.name < b.name ? -1 : 1))
    return {
      allowed: allowed || (has('allows every peek') && !consumes),
      violated: (has('names one quota') ? named.slice(0, 1) : named).map(({ quota }) => quota.name),
      retryAfterMs: has('waits for the quickest')
        ? Math.min(...(allowed ? [0] : waits))
        : Math.max(has('waits where it allows') ? 1 : 0, ...waits),
      reservation: reserves
        ? formatReservation({ born, seq: has('numbers nothing') ? 1 : seq, at: now, cost })
        : '',
      quotas: states,
    }
  }

  /** Writes the row, which lives as long as anything in it counts. */
  const keep = (key: string, row: LimitRow, quotas: readonly Quota[], now: number): void => {
    row.last = now
    const lives = quotas.map((quota) => {
      const { level } = slotOf(row, quota)
      const drains = has('keeps what it keeps for a window alone') ? 0 : Math.ceil(level / quota.limit)
      return Math.max(quota.windowMs, drains) * (has('keeps what counts too shortly') ? 0.5 : 1)
    })
    const until = now + Math.max(...lives) + 1
    row.expiresAt = has('keeps a key as long as its latest quota') ? until : Math.max(row.expiresAt, until)
    server.limits.set(escaped(key), row)
  }

  const apply = (slot: Slot, quota: Quota, at: number, difference: number, now: number): void => {
    if (has('gives nothing back') && difference < 0) return
    if (has('takes nothing more') && difference > 0) return
    drain(slot, quota, now)
    const { algorithm, limit, windowMs } = quota
    const most = has('forgives debts') ? capacity(quota) : Number.POSITIVE_INFINITY
    if (algorithm === 'gcra') {
      const drained = has('gives back what has drained') ? 0 : (now - at) * limit
      const moved = difference > 0 ? difference * windowMs : Math.min(0, difference * windowMs + drained)
      slot.level = Math.min(most * windowMs, Math.max(0, slot.level + moved))
      return
    }
    const found = slot.entries.find((one) => {
      if (algorithm === 'fixed-window') return has('settles in any window') || one.at <= at
      return has('gives back the latest first')
        ? one === slot.entries.at(-1)
        : sliceOf(one.at, quota) === sliceOf(at, quota)
    })
    const entry = found ?? (has('settles whatever window it was') ? slot.entries.at(-1) : undefined)
    if (entry) entry.count = Math.min(most, Math.max(0, entry.count + difference))
  }

  return {
    async consume(key, quotas, cost) {
      check(key, quotas, cost)
      const opened = open(key)
      if (has('awaits before it consumes')) {
        const seen = structuredClone(opened.row)
        await Promise.resolve()
        opened.row = seen
      }
      const isRepeat = has('takes a like command for a repeat') && opened.row.latest === cost
      opened.row.latest = cost
      const decision = decide(opened, quotas, cost, !isRepeat)
      keep(key, opened.row, quotas, opened.now)
      return decision
    },

    async peek(key, quotas) {
      check(key, quotas, 1)
      const { row, now } = open(key)
      if (has('begins a window with a peek')) {
        const fixed = quotas.find(({ algorithm }) => algorithm === 'fixed-window')
        if (fixed && slotOf(row, fixed).entries.length === 0) {
          slotOf(row, fixed).entries.push({ at: now, count: 0 })
          keep(key, row, quotas, now)
        }
      }
      if (has('consumes what is peeked at')) {
        const decision = decide({ row, now }, quotas, 1, true)
        keep(key, row, quotas, now)
        return { ...decision, reservation: '' }
      }
      return decide({ row: structuredClone(row), now }, quotas, 1, false)
    },

    async settle(key, quotas, text, cost) {
      check(key, quotas, cost)
      const reservation = parseReservation(text)
      if (reservation === undefined) {
        if (has('throws at what is no reservation')) throw new Error('no reservation')
        if (!has('takes what is no reservation for the latest')) return
      }
      if (has('settles nothing')) return
      const { row, now } = open(key)
      const { born, seq, at, cost: reserved } = reservation ?? { ...row, at: now, cost: 5 }
      if (born !== row.born && !has('settles whatever life it was')) return
      if (seq > row.seq && !has('settles what it never made')) return
      if (has('awaits before it settles')) {
        const isSettled = row.settled.includes(seq)
        await Promise.resolve()
        if (isSettled) return
      } else if ((seq <= row.settledFloor || row.settled.includes(seq)) && !has('settles each time')) return
      if (has('settles in order alone') && row.settled.some((one) => one > seq)) return
      const lasting = quotas.filter(
        ({ windowMs }) => windowMs > now - at || has('settles whatever window it was'),
      )
      if (lasting.length === 0 || (has('settles in all quotas or none') && lasting.length < quotas.length))
        return
      const remembers = has('remembers few settled ones') ? 64 : MAX_SETTLED
      row.settled = [...row.settled, seq].sort((a, b) => a - b)
      while (row.settled.length > remembers) {
        const lowest = row.settled.shift() as number
        if (!has('remembers few settled ones')) row.settledFloor = Math.max(row.settledFloor, lowest)
      }
      for (const quota of has('settles in one quota alone') ? lasting.slice(0, 1) : lasting)
        apply(slotOf(row, quota), quota, at, cost - reserved, now)
      keep(key, row, quotas, now)
    },

    async reset(key) {
      if (!has('takes any key')) checkKey(key)
      if (has('resets nothing')) return
      if (has('resets all that begins alike')) {
        for (const one of [...server.limits.keys()])
          if (one.startsWith(escaped(key))) server.limits.delete(one)
      }
      if (has('throws where there is nothing to reset') && !server.limits.has(escaped(key)))
        throw new Error('no such key')
      if (has('resets one quota')) {
        const slots = server.limits.get(escaped(key))?.slots
        const [first] = slots?.keys() ?? []
        if (first !== undefined) slots?.delete(first)
      } else server.limits.delete(escaped(key))
    },
  }
}
