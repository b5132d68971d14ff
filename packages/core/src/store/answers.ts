import type {
  CircuitSnapshot,
  CircuitState,
  RecordAnswer,
  SwapAnswer,
  WindowCounters,
} from '@tidegate/contract'
import { isFence } from '@tidegate/contract'
import { StoreError } from '../errors'

/*
 * What arrives from a store is checked before it is believed: a wrong type that
 * got as far as the mirror would decide about every call until the next answer.
 */

const STATES: readonly CircuitState[] = ['closed', 'open', 'half-open', 'isolated']

export function readSnapshot(answer: unknown): CircuitSnapshot {
  const snapshot = fieldsOf(answer, 'a snapshot')
  const { state, fence, openedAt, probeAfter, probe } = snapshot
  if (!STATES.includes(state as CircuitState)) throw unreadable('state', state)
  if (!isFence(fence)) throw unreadable('fence', fence)
  for (const field of ['trips', 'probeSuccesses', 'fleet'] as const) checkCount(field, snapshot[field])
  checkMoment('now', snapshot.now)
  if (openedAt !== undefined) checkMoment('openedAt', openedAt)
  if (probeAfter !== undefined) checkMoment('probeAfter', probeAfter)
  if (state === 'open' && probeAfter === undefined) throw unreadable('probeAfter', probeAfter)
  if (probe !== undefined) {
    const { owner, until } = fieldsOf(probe, 'probe')
    if (typeof owner !== 'string') throw unreadable('probe.owner', owner)
    checkMoment('probe.until', until)
  }
  return snapshot as unknown as CircuitSnapshot
}

export function readSwapAnswer(answer: unknown): SwapAnswer {
  const { ok, snapshot } = fieldsOf(answer, 'an answer to a swap')
  if (typeof ok !== 'boolean') throw unreadable('ok', ok)
  return { ok, snapshot: readSnapshot(snapshot) }
}

export function readRecordAnswer(answer: unknown): RecordAnswer {
  const { counted, snapshot, counters } = fieldsOf(answer, 'an answer to a tally')
  if (typeof counted !== 'boolean') throw unreadable('counted', counted)
  const fields = fieldsOf(counters, 'counters')
  for (const field of ['successes', 'failures', 'slow', 'consecutiveFailures', 'reporters'] as const) {
    checkCount(field, fields[field])
  }
  return { counted, snapshot: readSnapshot(snapshot), counters: fields as unknown as WindowCounters }
}

/** @throws StoreError where it is no object */
export function fieldsOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw unreadable(what, value)
  return value as Record<string, unknown>
}

/** @throws StoreError where it is no whole number, at least 0 */
export function checkCount(field: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw unreadable(field, value)
}

function checkMoment(field: string, value: unknown): void {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw unreadable(field, value)
}

/** Names the type alone: what stands in a store may be anybody's. */
export function unreadable(field: string, value: unknown): StoreError {
  const got = value === null ? 'null' : typeof value
  return new StoreError(
    'STORE_UNREADABLE',
    `the store's answer cannot be read: ${field} is no such thing (${got})`,
  )
}
