import type { CacheEntry, CacheStore } from '@tidegate/contract'
import { ConformanceError, same } from './assertion'
import type { Bench } from './bench'

/** Too long for a value to go during a case that does not wait for it. */
const LONG_MS = 3_600_000

/** One key of the cache, as several processes see it: where there are peers, commands take turns. */
export class CachedKey {
  readonly key: string
  readonly #bench: Bench

  constructor(bench: Bench, key: string = bench.name) {
    this.key = key
    this.#bench = bench
  }

  async get(): Promise<CacheEntry | undefined> {
    return this.#cache().get(this.key)
  }

  async set(value: string, ttlMs: number = LONG_MS): Promise<void> {
    await this.#cache().set(this.key, value, { ttlMs })
  }

  async delete(): Promise<void> {
    await this.#cache().delete(this.key)
  }

  async keeps(expected: string | undefined, when: string): Promise<void> {
    same((await this.get())?.value, expected, `the value ${when}`)
  }

  #cache(): CacheStore {
    const { cache } = this.#bench.turn()
    if (cache === undefined) throw new ConformanceError('the cache of the store', 'an object', cache)
    return cache
  }
}
