import {
  type CircuitSnapshot,
  type CircuitState,
  type CircuitStore,
  checkFence,
  checkSwap,
  checkTally,
  checkTerms,
  type Fence,
  fenceDigits,
  fenceNonce,
  fleetSpanMs,
  idleLeaseMs,
  isFence,
  isSwap,
  mintFence,
  type RecordAnswer,
  type SwapAnswer,
  type Tally,
  type Terms,
  windowSpanMs,
} from '@tidegate/contract'
import { decode, UnreadableReplyError } from './decode'
import { escapeName, unescapeName } from './names'
import { Operations, type Send } from './operations'
import type { Decoded } from './script'
import * as generated from './scripts.generated'

/** The scripts of circuits; a test may bring some of its own, with another clock. */
export type CircuitScripts = Pick<typeof generated, 'readState' | 'compareAndSet' | 'record' | 'forget'>

type SnapshotReply = Decoded<(typeof generated.readState)['reply']>

/** What all commands but `forget` bring. */
interface Common {
  readonly instance: string
  readonly nonce: string
  readonly windowMs: number
  readonly windowSpanMs: number
  readonly fleetSpanMs: number
  readonly idleMs: number
}

/** Circuits in Redis, over whatever sends the scripts there. */
export class RedisCircuits implements CircuitStore {
  readonly #operations: Operations
  readonly #channelOf: (name: string) => string
  readonly #scripts: CircuitScripts

  /**
   * @param prefix of every key, without braces
   * @param channelOf where the swaps of a circuit are told
   */
  constructor(
    send: Send,
    prefix: string,
    channelOf: (name: string) => string,
    scripts: CircuitScripts = generated,
  ) {
    this.#operations = new Operations(send, prefix)
    this.#channelOf = channelOf
    this.#scripts = scripts
  }

  async readState(name: string, terms: Terms): Promise<CircuitSnapshot> {
    checkTerms(terms)
    return snapshotOf(await this.#operations.run(this.#scripts.readState, name, commonOf(terms)))
  }

  async compareAndSet(
    name: string,
    from: CircuitState,
    to: CircuitState,
    fence: Fence,
    terms: Terms,
  ): Promise<SwapAnswer> {
    checkTerms(terms)
    checkFence(fence)
    checkSwap(from, to, terms)
    const reply = await this.#operations.run(this.#scripts.compareAndSet, name, {
      ...commonOf(terms),
      ...periodOf(fence),
      deadline: terms.deadline,
      from,
      to,
      pair: isSwap(from, to),
      owner: escapeName(terms.owner ?? ''),
      yield: terms.yield === true,
      succeeded: terms.succeeded === true,
      cooldownMs: terms.cooldownMs,
      leaseMs: terms.leaseMs,
      channel: this.#channelOf(name),
    })
    return { ok: reply.ok, snapshot: snapshotOf(reply) }
  }

  async record(name: string, fence: Fence, tally: Tally, terms: Terms): Promise<RecordAnswer> {
    checkTerms(terms)
    checkFence(fence)
    checkTally(tally)
    const { seq, successes, failures, slow, trailingFailures } = tally
    const reply = await this.#operations.run(this.#scripts.record, name, {
      ...commonOf(terms),
      ...periodOf(fence),
      deadline: terms.deadline,
      seq,
      successes,
      failures,
      slow,
      trailingFailures,
    })
    const { counted, consecutiveFailures, reporters } = reply
    const counters = {
      successes: reply.successes,
      failures: reply.failures,
      slow: reply.slow,
      consecutiveFailures,
      reporters,
    }
    return { counted, snapshot: snapshotOf(reply), counters }
  }

  async forget(name: string): Promise<void> {
    await this.#operations.run(this.#scripts.forget, name, {})
  }
}

/**
 * What was told on the channel of a circuit.
 *
 * @throws UnreadableReplyError where it is none of ours
 */
export function readMessage(message: string): CircuitSnapshot {
  return snapshotOf(decode('a message', generated.readState.reply, message.split(' ')))
}

function commonOf(terms: Terms): Common {
  const { window } = terms
  // A window that is not of these kinds is refused when a breaker is built: `supports` does not name it.
  if (window.kind === 'count') throw new TypeError('a store on Redis has no count windows')
  return {
    instance: escapeName(terms.instance),
    nonce: terms.nonce,
    windowMs: window.kind === 'time' ? window.ms : 0,
    windowSpanMs: windowSpanMs(window),
    fleetSpanMs: fleetSpanMs(window),
    idleMs: idleLeaseMs(terms),
  }
}

function periodOf(fence: Fence): { readonly digits: number; readonly period: string } {
  return { digits: fenceDigits(fence), period: fenceNonce(fence) }
}

/** Beyond its format, for whoever decides on it relies on what belongs to which state. */
function snapshotOf(reply: SnapshotReply): CircuitSnapshot {
  const { state, digits, nonce, openedAt, probeAfter, trips, probeSuccesses, fleet, now } = reply
  const fence = mintFence(digits - 1, 0, nonce)
  if (!isFence(fence)) throw new UnreadableReplyError('a command', 'its fence is none')
  const opened = state === 'open' || state === 'half-open'
  const fits =
    (openedAt !== undefined) === opened &&
    (probeAfter !== undefined) === opened &&
    (reply.leaseUntil === undefined || state === 'half-open') &&
    (reply.leaseUntil === undefined) === (reply.owner === '')
  if (!fits) throw new UnreadableReplyError('a command', 'its fields do not go together')
  return {
    state,
    fence,
    ...(openedAt === undefined ? {} : { openedAt }),
    ...(probeAfter === undefined ? {} : { probeAfter }),
    trips,
    probeSuccesses,
    ...(reply.leaseUntil === undefined
      ? {}
      : { probe: { owner: unescapeName(reply.owner), until: reply.leaseUntil } }),
    fleet,
    now,
  }
}
