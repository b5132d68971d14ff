/**
 * A fence names one period of one circuit for all time: `<16 digits>.<nonce>`.
 *
 * The digits are max(previous + 1, the store's clock in microseconds), so that
 * a later period compares greater. The nonce is the one of the command that
 * began the period, so that two periods minted from the same digits (a store
 * that lost a write and went on) are still two. A period that no swap began,
 * because a command found no circuit and created it, carries a `~` before the
 * nonce: the command that merely came by did not win it.
 */
export type Fence = string

const DIGITS = 16
const FENCE = /^\d{16}\.~?[A-Za-z0-9_-]{1,64}$/
const NONCE = /^[A-Za-z0-9_-]{1,64}$/

/** Whether a value has the form of a fence; a store takes no other. */
export function isFence(value: unknown): value is Fence {
  return typeof value === 'string' && FENCE.test(value)
}

/** Whether a value may serve as the nonce of a command: 1 to 64 of `A-Z a-z 0-9 _ -`. */
export function isNonce(value: unknown): value is string {
  return typeof value === 'string' && NONCE.test(value)
}

/**
 * The fence of the period that begins now.
 *
 * @param previous the digits of the period before, 0 where there was none
 * @param nowMicros the store's clock, in microseconds since the epoch
 * @param nonce of the command that begins it; `~` before it where the period is created, not won
 */
export function mintFence(previous: number, nowMicros: number, nonce: string): Fence {
  const digits = Math.max(previous + 1, Math.floor(nowMicros))
  return `${String(digits).padStart(DIGITS, '0')}.${nonce}`
}

/** The digits of a fence, as a number. Microseconds stay below 2^53 until the year 2255. */
export function fenceDigits(fence: Fence): number {
  return Number(fence.slice(0, DIGITS))
}

/** The nonce of the command that began the period, with its `~` where the period was created. */
export function fenceNonce(fence: Fence): string {
  return fence.slice(DIGITS + 1)
}

/** Below 0 when `a` is the earlier period, above 0 when it is the later, 0 only for the same one. */
export function compareFences(a: Fence, b: Fence): number {
  // The digits have a fixed width, so the order of the strings is the order of the numbers.
  return a < b ? -1 : a > b ? 1 : 0
}
