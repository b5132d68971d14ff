import {
  capacityOf,
  checkCost,
  checkKey,
  checkQuotas,
  formatReservation,
  type LimitDecision,
  type LimitStore,
  parseReservation,
  type Quota,
  type QuotaState,
} from '@tidegate/contract'
import { UnreadableReplyError } from './decode'
import { escapeName } from './names'
import { Operations, type Send } from './operations'
import type { Decoded } from './script'
import * as generated from './scripts.generated'

/** The scripts of limits; a test may bring some of its own, with another clock. */
export type LimitScripts = Pick<typeof generated, 'consume' | 'peek' | 'settle' | 'resetLimits'>

type DecisionReply = Decoded<(typeof generated.consume)['reply']>

/** What a decision has of each quota: whether it had too little left, what remains, how long until all does. */
const NUMBERS_A_QUOTA = 3

/** Limits in Redis, over whatever sends the scripts there. */
export class RedisLimits implements LimitStore {
  readonly #operations: Operations
  readonly #scripts: LimitScripts

  /** @param prefix of every key, without braces */
  constructor(send: Send, prefix: string, scripts: LimitScripts = generated) {
    this.#operations = new Operations(send, prefix)
    this.#scripts = scripts
  }

  async consume(key: string, quotas: readonly Quota[], cost: number): Promise<LimitDecision> {
    checkKey(key)
    checkQuotas(quotas)
    checkCost(cost, quotas)
    const reply = await this.#operations.run(this.#scripts.consume, key, { quotas: pack(quotas), cost })
    if (reply.allowed !== reply.seq > 0) throw unreadable('its reservation does not go with what it allows')
    return decisionOf(reply, quotas, cost)
  }

  async peek(key: string, quotas: readonly Quota[]): Promise<LimitDecision> {
    checkKey(key)
    checkQuotas(quotas)
    const reply = await this.#operations.run(this.#scripts.peek, key, { quotas: pack(quotas) })
    if (reply.seq > 0) throw unreadable('it has a reservation')
    return decisionOf(reply, quotas, 1)
  }

  async settle(key: string, quotas: readonly Quota[], reservation: string, cost: number): Promise<void> {
    checkKey(key)
    checkQuotas(quotas)
    checkCost(cost, quotas)
    const reserved = parseReservation(reservation)
    if (reserved === undefined) return
    const { born, seq, at } = reserved
    const values = { quotas: pack(quotas), born, seq, at, reserved: reserved.cost, cost }
    await this.#operations.run(this.#scripts.settle, key, values)
  }

  async reset(key: string): Promise<void> {
    checkKey(key)
    await this.#operations.run(this.#scripts.resetLimits, key, {})
  }
}

/** As include/quotas.lua takes them: the three words of a slot, then limit and capacity. */
function pack(quotas: readonly Quota[]): string {
  const words = quotas.flatMap((quota) => {
    const { name, algorithm, windowMs, limit } = quota
    return [escapeName(name), algorithm, windowMs, limit, capacityOf(quota)]
  })
  return words.join(' ')
}

/** Beyond its format, for a caller lets requests through on it. */
function decisionOf(reply: DecisionReply, quotas: readonly Quota[], cost: number): LimitDecision {
  const { allowed, born, seq, at, states } = reply
  if (states.length !== quotas.length * NUMBERS_A_QUOTA) throw unreadable('it has not these quotas')
  const violated: string[] = []
  const present = quotas.map((quota, index): QuotaState => {
    const [flag, remaining, resetMs] = states.slice(index * NUMBERS_A_QUOTA) as [number, number, number]
    if (flag > 1) throw unreadable('a quota is neither violated nor not')
    if (flag === 1) violated.push(quota.name)
    if (remaining > capacityOf(quota)) throw unreadable('more remains than there is')
    return { name: quota.name, limit: quota.limit, remaining, resetMs }
  })
  if (allowed !== (violated.length === 0)) throw unreadable('its quotas do not go with what it allows')
  if (allowed !== (reply.retryAfterMs === 0)) throw unreadable('its wait does not go with what it allows')
  const isTooMuch = quotas.some((quota) => cost > capacityOf(quota))
  if (isTooMuch !== (reply.retryAfterMs === undefined)) throw unreadable('it waits for what never comes')
  return {
    allowed,
    violated,
    retryAfterMs: reply.retryAfterMs ?? Number.POSITIVE_INFINITY,
    reservation: seq === 0 ? '' : formatReservation({ born, seq, at, cost }),
    quotas: present,
  }
}

function unreadable(what: string): UnreadableReplyError {
  return new UnreadableReplyError('a decision', what)
}
