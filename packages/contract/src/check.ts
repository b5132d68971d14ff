import { type CircuitState, type CircuitWindow, SWAPS, type Tally, type Terms } from './circuit'
import { isFence, isNonce } from './fence'

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
