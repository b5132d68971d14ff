import { type CircuitState, type CircuitWindow, SWAPS, type Tally, type Terms } from './circuit'
import { isFence, isNonce } from './fence'
import type { LeaseRequest } from './leases'
import { capacityOf, type LimitAlgorithm, MAX_QUOTAS, type Quota } from './limits'

/*
 * What a command must bring, for stores to hold their callers to. A caller that
 * gets this wrong has a defect, and is told so at once: a store that went on would
 * keep the defect as its state.
 */

/** @throws TypeError naming the field, what it takes and what it got */
export function checkTerms(terms: Terms): void {
  if (!isText(terms.instance)) fail('terms.instance', 'a string that is not empty', terms.instance)
  if (!isNonce(terms.nonce)) fail('terms.nonce', '1 to 64 of A-Z a-z 0-9 _ -', terms.nonce)
  if (terms.deadline !== undefined && !Number.isFinite(terms.deadline)) {
    fail('terms.deadline', 'epoch milliseconds', terms.deadline)
  }
  checkWindow(terms.window)
  if (!isWhole(terms.cooldownMs, 1))
    fail('terms.cooldownMs', 'whole milliseconds, at least 1', terms.cooldownMs)
  if (!isWhole(terms.leaseMs, 1)) fail('terms.leaseMs', 'whole milliseconds, at least 1', terms.leaseMs)
  if (terms.owner !== undefined && !isText(terms.owner)) {
    fail('terms.owner', 'a string that is not empty', terms.owner)
  }
  for (const field of ['yield', 'succeeded'] as const) {
    if (terms[field] !== undefined && terms[field] !== true) {
      fail(`terms.${field}`, 'true or left out', terms[field])
    }
  }
}

/** @throws TypeError naming the field, what it takes and what it got */
export function checkTally(tally: Tally): void {
  for (const field of ['seq', 'successes', 'failures', 'slow', 'trailingFailures'] as const) {
    if (!isWhole(tally[field], 0)) fail(`tally.${field}`, 'a whole number, at least 0', tally[field])
  }
  const { successes, failures, slow, trailingFailures } = tally
  if (slow > successes + failures) fail('tally.slow', 'at most successes + failures', slow)
  if (trailingFailures > failures) fail('tally.trailingFailures', 'at most failures', trailingFailures)
  if (successes === 0 && trailingFailures !== failures) {
    fail('tally.trailingFailures', 'all failures where there was no success', trailingFailures)
  }
}

/** @throws TypeError */
export function checkName(name: string): void {
  if (!isText(name)) fail('name', 'a string that is not empty', name)
}

/** @throws TypeError */
export function checkFence(fence: string): void {
  if (!isFence(fence)) fail('fence', 'a fence of this contract', fence)
}

/**
 * The states of a swap, and that an instance which takes or yields a permit says
 * who it is. A pair of states that is no swap is answered, not thrown.
 *
 * @throws TypeError naming the field, what it takes and what it got
 */
export function checkSwap(from: CircuitState, to: CircuitState, terms: Terms): void {
  checkState('from', from)
  checkState('to', to)
  if (to === 'half-open' && isSwap(from, to) && terms.owner === undefined) {
    fail('terms.owner', 'given with a swap to half-open', terms.owner)
  }
}

/** Whether there is such a swap at all: see {@link SWAPS}. */
export function isSwap(from: CircuitState, to: CircuitState): boolean {
  return SWAPS[from].includes(to)
}

const ALGORITHMS: readonly LimitAlgorithm[] = ['gcra', 'sliding-window', 'fixed-window']

/** Products of a number and a window are summed up: so far from the end of what is exact none comes near it. */
const LARGEST_PRODUCT = Number.MAX_SAFE_INTEGER / 8

/** @throws TypeError */
export function checkKey(key: string): void {
  if (!isText(key)) fail('key', 'a string that is not empty', key)
}

/** @throws TypeError naming the field, what it takes and what it got */
export function checkQuotas(quotas: readonly Quota[]): void {
  if (!Array.isArray(quotas) || quotas.length === 0 || quotas.length > MAX_QUOTAS) {
    fail('quotas', `a list of 1 to ${MAX_QUOTAS}`, Array.isArray(quotas) ? quotas.length : quotas)
  }
  const names = new Set<string>()
  for (const [index, quota] of quotas.entries()) {
    const field = `quotas[${index}]`
    if (!isText(quota?.name)) fail(`${field}.name`, 'a string that is not empty', quota?.name)
    if (names.has(quota.name)) fail(`${field}.name`, 'unlike that of any other quota', quota.name)
    names.add(quota.name)
    if (!ALGORITHMS.includes(quota.algorithm)) {
      fail(`${field}.algorithm`, ALGORITHMS.join(' or '), quota.algorithm)
    }
    for (const name of ['limit', 'windowMs'] as const) {
      if (!isWhole(quota[name], 1)) fail(`${field}.${name}`, 'a whole number, at least 1', quota[name])
    }
    if (quota.burst !== undefined) {
      if (quota.algorithm !== 'gcra') fail(`${field}.burst`, 'left out where it is not gcra', quota.burst)
      if (!isWhole(quota.burst, 1)) fail(`${field}.burst`, 'a whole number, at least 1', quota.burst)
    }
    if (Math.max(quota.limit, capacityOf(quota)) * quota.windowMs > LARGEST_PRODUCT) {
      fail(`${field}.limit`, `less, for a window of ${quota.windowMs} ms`, quota.limit)
    }
  }
}

/** @throws TypeError */
export function checkCost(cost: number, quotas: readonly Quota[]): void {
  if (!isWhole(cost, 0)) fail('cost', 'a whole number, at least 0', cost)
  const longest = Math.max(...quotas.map(({ windowMs }) => windowMs))
  if (cost * longest > LARGEST_PRODUCT) fail('cost', `less, for a window of ${longest} ms`, cost)
}

/** @throws TypeError naming the field, what it takes and what it got */
export function checkLeaseRequest(request: LeaseRequest): void {
  checkOwner(request?.owner)
  if (!isWhole(request.limit, 1)) fail('limit', 'a whole number, at least 1', request.limit)
  checkLeaseMs(request.leaseMs)
}

/** @throws TypeError */
export function checkOwner(owner: string): void {
  if (!isNonce(owner)) fail('owner', '1 to 64 of A-Z a-z 0-9 _ -', owner)
}

/** @throws TypeError */
export function checkLeaseMs(leaseMs: number): void {
  if (!isWhole(leaseMs, 1)) fail('leaseMs', 'whole milliseconds, at least 1', leaseMs)
}

/** @throws TypeError naming the field, what it takes and what it got */
export function checkCacheEntry(value: string, ttlMs: number): void {
  if (typeof value !== 'string') fail('value', 'a string', value)
  if (!isWhole(ttlMs, 1)) fail('ttlMs', 'whole milliseconds, at least 1', ttlMs)
}

function checkState(field: 'from' | 'to', state: CircuitState): void {
  if (!Object.hasOwn(SWAPS, state)) fail(field, 'closed, open, half-open or isolated', state)
}

function checkWindow(window: CircuitWindow): void {
  if (window?.kind === 'consecutive') return
  if (window?.kind === 'time') {
    if (!isWhole(window.ms, 1)) fail('terms.window.ms', 'whole milliseconds, at least 1', window.ms)
  } else if (window?.kind === 'count') {
    if (!isWhole(window.calls, 1)) fail('terms.window.calls', 'a whole number, at least 1', window.calls)
  } else {
    fail('terms.window', "one of kind 'time', 'consecutive' or 'count'", window)
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0
}

function isWhole(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least
}

function fail(field: string, takes: string, got: unknown): never {
  throw new TypeError(`${field} must be ${takes}, got ${shown(got)}`)
}

// A name or a key may be a user's own, and a message ends up in a log: numbers alone are shown as they are.
function shown(value: unknown): string {
  return typeof value === 'number'
    ? String(value)
    : `a value of type ${value === null ? 'null' : typeof value}`
}
