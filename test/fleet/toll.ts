import type { CircuitState } from '@tidegate/core'
import { compareAndSet } from '../../packages/redis-lua/src/scripts.generated'
import type { RedisProxy } from '../support/redis/index'
import type { Bell } from './bell'

/** A swap on its way to Redis. */
export interface Swap {
  readonly from: CircuitState
  readonly to: CircuitState
}

/** What is done when a command passes: let it pass, stop all there is on the way, or have its reply lost. */
type Order = 'pass' | 'stop' | 'lose the reply'

/** Looks at each command on the way to Redis, and stops the traffic with just the one that is waited for. */
export class Toll {
  /** The swaps that came by, each delivery of them. */
  readonly swaps: Swap[] = []
  readonly #proxy: RedisProxy
  readonly #bell: Bell
  #order: (swap: Swap | undefined) => Order = () => 'pass'

  constructor(proxy: RedisProxy, bell: Bell) {
    this.#proxy = proxy
    this.#bell = bell
    // Asked about every request, and it may say no to each.
    proxy.loseReplies(Number.POSITIVE_INFINITY, (request) => this.#inspect(request))
  }

  /** Nothing arrives any more from the next such command on, that one included. Resolves when it has come. */
  async stopAt(what: string, isMeant: (swap: Swap | undefined) => boolean): Promise<void> {
    let isStopped = false
    this.#order = (swap) => {
      if (isStopped || !isMeant(swap)) return 'pass'
      isStopped = true
      return 'stop'
    }
    await this.#bell.until(what, () => isStopped)
  }

  /** All that was stopped arrives, in order. */
  release(): void {
    this.#proxy.unmute()
  }

  /** The next such command arrives, and instead of its answer comes the end of its connection. */
  loseReply(isMeant: (swap: Swap | undefined) => boolean): void {
    this.#order = (swap) => {
      if (!isMeant(swap)) return 'pass'
      this.#order = () => 'pass'
      return 'lose the reply'
    }
  }

  #inspect(request: readonly string[]): boolean {
    if (request[0] !== 'EVALSHA' && request[0] !== 'EVAL') return false
    const swap = swapOf(request)
    if (swap !== undefined) this.swaps.push(swap)
    const order = this.#order(swap)
    if (order === 'stop') this.#proxy.mute()
    this.#bell.ring()
    return order === 'lose the reply'
  }
}

/** Tells one kind of swap from all else. */
export function isSwap(from: CircuitState, to: CircuitState): (swap: Swap | undefined) => boolean {
  return (swap) => swap?.from === from && swap.to === to
}

function swapOf([, script, , ...words]: readonly string[]): Swap | undefined {
  const { digest, text, keys, args } = compareAndSet
  if (script !== digest && script !== text) return undefined
  const argument = (name: (typeof args)[number]) => words[keys.length + args.indexOf(name)] as CircuitState
  return { from: argument('from'), to: argument('to') }
}
