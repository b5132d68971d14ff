import {
  checkFence,
  checkLeaseMs,
  checkLeaseRequest,
  checkName,
  checkOwner,
  type Fence,
  fenceDigits,
  fenceNonce,
  isFence,
  type LeaseAnswer,
  type LeaseRequest,
  type LeaseStore,
  mintFence,
} from '@tidegate/contract'
import { UnreadableReplyError } from './decode'
import { Operations, type Send } from './operations'
import * as generated from './scripts.generated'

/** The scripts of leases; a test may bring some of its own, with another clock. */
export type LeaseScripts = Pick<typeof generated, 'acquire' | 'renew' | 'release'>

/** A name without leases is kept so long at least, for the digits of its fences to go on growing. */
const IDLE_MS = 120_000

/** Leases in Redis, over whatever sends the scripts there. */
export class RedisLeases implements LeaseStore {
  readonly #operations: Operations
  readonly #scripts: LeaseScripts

  /** @param prefix of every key, without braces */
  constructor(send: Send, prefix: string, scripts: LeaseScripts = generated) {
    this.#operations = new Operations(send, prefix)
    this.#scripts = scripts
  }

  async acquire(name: string, request: LeaseRequest): Promise<LeaseAnswer> {
    checkName(name)
    checkLeaseRequest(request)
    const { owner, limit, leaseMs } = request
    const values = { owner, limit, leaseMs, idleMs: idleMsOf(leaseMs) }
    const reply = await this.#operations.run(this.#scripts.acquire, name, values)
    const { ok, digits, inUse, retryAfterMs } = reply
    if (ok !== digits > 0 || ok !== (retryAfterMs === 0) || inUse === 0 || (!ok && inUse < limit)) {
      throw new UnreadableReplyError('acquire', 'its fields do not go together')
    }
    const fence = ok ? mintFence(digits - 1, 0, owner) : ''
    if (ok && !isFence(fence)) throw new UnreadableReplyError('acquire', 'its fence is none')
    return { ok, fence, inUse, retryAfterMs }
  }

  async renew(name: string, owner: string, fence: Fence, leaseMs: number): Promise<boolean> {
    checkName(name)
    checkOwner(owner)
    checkFence(fence)
    checkLeaseMs(leaseMs)
    const values = { owner, digits: digitsOf(owner, fence), leaseMs, idleMs: idleMsOf(leaseMs) }
    return (await this.#operations.run(this.#scripts.renew, name, values)).held
  }

  async release(name: string, owner: string, fence: Fence): Promise<void> {
    checkName(name)
    checkOwner(owner)
    checkFence(fence)
    const values = { owner, digits: digitsOf(owner, fence), idleMs: IDLE_MS }
    await this.#operations.run(this.#scripts.release, name, values)
  }
}

function idleMsOf(leaseMs: number): number {
  return Math.max(IDLE_MS, 2 * leaseMs)
}

/** Of the fence, for the owner is its nonce; of another's fence 0, which is none of anybody's. */
function digitsOf(owner: string, fence: Fence): number {
  return fenceNonce(fence) === owner ? fenceDigits(fence) : 0
}
