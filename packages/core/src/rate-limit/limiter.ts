import type { LimitDecision, LimitStore, MaybePromise, Quota, Store } from '@tidegate/contract'
import { memoryStore } from '@tidegate/store-memory'
import { after } from '../maybe-promise'
import type { GuardSettings } from '../store/guard'
import { GuardedStore, type StoreWatch } from '../store/guarded-store'
import { readDecision } from './answers'

/**
 * Who decides while the store is away: `'local'`, this instance by the same quotas and
 * what it has let through since; `'allow'` and `'deny'`, nobody.
 */
export type OnStoreDown = 'local' | 'allow' | 'deny'

export interface LimiterSettings extends GuardSettings {
  readonly name: string
  readonly onStoreDown: OnStoreDown
  /** Keys that are counted for while the store is away. */
  readonly maxKeys: number
}

/** What was decided, and whether by the store. */
export interface Verdict extends LimitDecision {
  readonly isDegraded: boolean
}

/** A key of the store: the name cannot end in another place than it does. */
export function limitKey(name: string, key: string): string {
  return `${name.replace(/[%|]/g, (sign) => (sign === '%' ? '%25' : '%7C'))}|${key}`
}

/** Quotas over a store that may be away. Never throws, never rejects, and waits for no longer than the store may take. */
export class Limiter {
  readonly #limits: LimitStore
  readonly #store: GuardedStore
  readonly #settings: LimiterSettings
  #local: LimitStore | undefined

  constructor(store: Store & { readonly limits: LimitStore }, settings: LimiterSettings, watch: StoreWatch) {
    this.#limits = store.limits
    this.#settings = settings
    this.#store = new GuardedStore(store, settings, watch)
  }

  consume(key: string, quotas: readonly Quota[], cost: number): MaybePromise<Verdict> {
    return this.#ask(quotas, (limits) => limits.consume(this.#keyOf(key), quotas, cost))
  }

  peek(key: string, quotas: readonly Quota[]): MaybePromise<Verdict> {
    return this.#ask(quotas, (limits) => limits.peek(this.#keyOf(key), quotas))
  }

  /** The real cost of what was let in; of what the store did not decide, nothing. */
  settle(key: string, quotas: readonly Quota[], verdict: Verdict, cost: number): MaybePromise<boolean> {
    const { isDegraded, reservation } = verdict
    const settle = (limits: LimitStore) => limits.settle(this.#keyOf(key), quotas, reservation, cost)
    if (reservation === '') return false
    if (isDegraded) return after(settle(this.#own()) as MaybePromise<void>, () => true)
    return after(
      this.#store.ask(() => settle(this.#limits), done),
      (answer) => answer !== undefined,
    )
  }

  /** @returns whether the store has forgotten it; this instance has, either way */
  reset(key: string): MaybePromise<boolean> {
    if (this.#local !== undefined) void this.#local.reset(this.#keyOf(key))
    return after(
      this.#store.ask(() => this.#limits.reset(this.#keyOf(key)), done),
      (answer) => answer !== undefined,
    )
  }

  #keyOf(key: string): string {
    return limitKey(this.#settings.name, key)
  }

  #ask(
    quotas: readonly Quota[],
    ask: (limits: LimitStore) => MaybePromise<LimitDecision>,
  ): MaybePromise<Verdict> {
    return after(
      this.#store.ask(() => ask(this.#limits), readDecision),
      (decision) => {
        if (decision !== undefined) return { ...decision, isDegraded: false }
        if (this.#settings.onStoreDown === 'local') {
          return { ...(ask(this.#own()) as LimitDecision), isDegraded: true }
        }
        return this.#undecided(quotas)
      },
    )
  }

  /** Memory answers at once. What it counted in one outage is over, or counts on, by its own time in the next. */
  #own(): LimitStore {
    const { maxKeys, clock } = this.#settings
    this.#local ??= memoryStore({ maxKeys, clock }).limits
    return this.#local
  }

  #undecided(quotas: readonly Quota[]): Verdict {
    const allowed = this.#settings.onStoreDown === 'allow'
    return {
      allowed,
      violated: [],
      retryAfterMs: allowed ? 0 : Math.max(1, Math.ceil(this.#store.awayMs)),
      reservation: '',
      quotas: quotas.map(({ name, limit }) => ({ name, limit, remaining: allowed ? limit : 0, resetMs: 0 })),
      isDegraded: true,
    }
  }
}

const DONE = {}

function done(): object {
  return DONE
}
