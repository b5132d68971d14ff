import { type CacheEntry, type CacheStore, checkCacheEntry, checkKey } from '@tidegate/contract'
import { UnreadableReplyError } from './decode'
import { Operations, type Send } from './operations'
import * as generated from './scripts.generated'

/** The scripts of the cache; a test may bring some of its own, with another clock. */
export type CacheScripts = Pick<typeof generated, 'cacheGet' | 'cacheSet' | 'cacheDelete'>

/** A cache in Redis, over whatever sends the scripts there. It is told text as UTF-8, which has no halves of surrogate pairs. */
export class RedisCache implements CacheStore {
  readonly #operations: Operations
  readonly #scripts: CacheScripts

  /** @param prefix of every key, without braces */
  constructor(send: Send, prefix: string, scripts: CacheScripts = generated) {
    this.#operations = new Operations(send, prefix)
    this.#scripts = scripts
  }

  async get(key: string): Promise<CacheEntry | undefined> {
    checkKey(key)
    const { ageMs, value } = await this.#operations.run(this.#scripts.cacheGet, key, {})
    if (ageMs !== undefined) return { value, ageMs }
    if (value !== '') throw new UnreadableReplyError('cache-get', 'it has a value of no age')
    return undefined
  }

  async set(key: string, value: string, { ttlMs }: { readonly ttlMs: number }): Promise<void> {
    checkKey(key)
    checkCacheEntry(value, ttlMs)
    await this.#operations.run(this.#scripts.cacheSet, key, { value, ttlMs })
  }

  async delete(key: string): Promise<void> {
    checkKey(key)
    await this.#operations.run(this.#scripts.cacheDelete, key, {})
  }
}
