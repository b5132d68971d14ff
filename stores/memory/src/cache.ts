import { type CacheEntry, type CacheStore, checkCacheEntry, checkKey } from '@tidegate/contract'
import { Shelf, Shelved } from './shelf'
import type { Time } from './time'

class Kept extends Shelved<Kept> {
  readonly name: string
  value: string
  setAt: number
  expiresAt: number

  constructor(name: string, value: string, setAt: number, expiresAt: number) {
    super()
    this.name = name
    this.value = value
    this.setAt = setAt
    this.expiresAt = expiresAt
  }
}

/** Answers in this process' memory; the least recently used goes where there is no room. */
export class MemoryCache implements CacheStore {
  readonly #time: Time
  readonly #shelf: Shelf<Kept>

  constructor(maxKeys: number, time: Time) {
    this.#time = time
    this.#shelf = new Shelf(maxKeys)
  }

  get(key: string): CacheEntry | undefined {
    checkKey(key)
    const now = this.#time.wholeMs()
    const kept = this.#shelf.get(key, now)
    if (kept === undefined) return undefined
    this.#shelf.use(kept, now)
    return { value: kept.value, ageMs: now - kept.setAt }
  }

  set(key: string, value: string, { ttlMs }: { readonly ttlMs: number }): void {
    checkKey(key)
    checkCacheEntry(value, ttlMs)
    const now = this.#time.wholeMs()
    const kept = this.#shelf.get(key, now)
    if (kept === undefined) {
      this.#shelf.add(new Kept(key, value, now, now + ttlMs), now)
      return
    }
    kept.value = value
    kept.setAt = now
    kept.expiresAt = now + ttlMs
    this.#shelf.use(kept, now)
  }

  delete(key: string): void {
    checkKey(key)
    this.#shelf.delete(key)
  }

  close(): void {
    this.#shelf.clear()
  }
}
