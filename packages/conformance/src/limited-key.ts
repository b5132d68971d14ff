import type { LimitDecision, LimitStore, Quota } from '@tidegate/contract'
import { ConformanceError, same } from './assertion'
import type { Bench } from './bench'

/** Most cases are about one. */
export type Quotas = Quota | readonly Quota[]

/** What is limited, as callers in several processes see it: where there are peers, commands take turns. */
export class LimitedKey {
  readonly key: string
  readonly #bench: Bench

  constructor(bench: Bench, key: string = bench.name) {
    this.key = key
    this.#bench = bench
  }

  async consume(quotas: Quotas, cost = 1): Promise<LimitDecision> {
    return this.#limits().consume(this.key, listed(quotas), cost)
  }

  async peek(quotas: Quotas): Promise<LimitDecision> {
    return this.#limits().peek(this.key, listed(quotas))
  }

  async settle(quotas: Quotas, reservation: string, cost: number): Promise<void> {
    await this.#limits().settle(this.key, listed(quotas), reservation, cost)
  }

  async reset(): Promise<void> {
    await this.#limits().reset(this.key)
  }

  /** Consumes what there has to be. */
  async take(quotas: Quotas, cost: number): Promise<LimitDecision> {
    const decision = await this.consume(quotas, cost)
    same(decision.allowed, true, `a cost of ${cost} is allowed`)
    return decision
  }

  /** Asks for more than there may be. */
  async overask(quotas: Quotas, cost: number): Promise<LimitDecision> {
    const decision = await this.consume(quotas, cost)
    same(decision.allowed, false, `a cost of ${cost} is allowed`)
    return decision
  }

  async remains(quotas: Quotas, expected: number, when: string): Promise<void> {
    same((await this.peek(quotas)).quotas[0]?.remaining, expected, `what remains ${when}`)
  }

  #limits(): LimitStore {
    const { limits } = this.#bench.turn()
    if (limits === undefined) throw new ConformanceError('the limits of the store', 'an object', limits)
    return limits
  }
}

function listed(quotas: Quotas): readonly Quota[] {
  return 'algorithm' in quotas ? [quotas] : quotas
}
