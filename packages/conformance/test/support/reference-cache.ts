import { type CacheStore, checkCacheEntry, checkKey } from '@tidegate/contract'
import type { Fault } from './faults'
import type { Server } from './reference-store'
import { STUMBLES } from './stumbles'

export interface CacheRow {
  value: string
  at: number
  until: number
}

/** The contract of the cache by the letter, with faults that can be asked for. */
export function referenceCache(server: Server, faults: ReadonlySet<Fault>): CacheStore {
  const has = (fault: Fault): boolean => faults.has(fault)

  if (has('keeps values when it is flushed')) server.cache.clear = () => {}

  const escaped = (key: string): string => {
    if (!has('takes any cache key')) checkKey(key)
    for (const [what, trips] of Object.entries(STUMBLES))
      if (has(`stumbles over a cached key of ${what}`) && trips(key)) throw new Error('a key')
    if (has('escapes cached keys badly')) return key.replace(/[{}]/g, '')
    return has('keeps one value for all keys') ? 'all' : key
  }

  const encoded = (value: string): string => {
    if (has('trims values')) return value.trim()
    if (has('cuts values at a NUL')) return value.split('\0')[0] as string
    if (has('cuts values at a bar')) return value.split('|')[0] as string
    if (has('reads numbers')) return /^\d+$/.test(value) ? String(Number(value)) : value
    if (has('reads JSON'))
      return value.startsWith('{') ? JSON.stringify({ ...JSON.parse(value) }).replace(/,"__.*/, '}') : value
    if (has('cuts values at 64 KB')) return value.slice(0, 65_536)
    return has('keeps bytes alone') ? Buffer.from(value, 'latin1').toString('latin1') : value
  }

  return {
    async get(key) {
      const now = Math.floor(server.tick())
      const row = server.cache.get(escaped(key))
      if (has('has a value for everything') && row === undefined) return { value: '', ageMs: 0 }
      if (row === undefined) return undefined
      if (now >= row.until && !has('keeps values for good')) return undefined
      if (has('takes no length for no value') && row.value === '') return undefined
      if (has('takes null for no value') && row.value === 'null') return undefined
      if (has('lengthens the time with each read')) row.until = now + (row.until - row.at)
      let ageMs = has('tells ages below 0') ? now - row.at : Math.max(0, now - row.at)
      if (has('tells no age')) ageMs = 0
      if (has('tells the moment for the age')) ageMs = row.at
      return { value: row.value, ageMs }
    },

    async set(key, value, { ttlMs }) {
      if (!has('takes any time')) checkCacheEntry(has('takes any value') ? '' : value, ttlMs)
      const now = Math.floor(server.tick())
      const before = server.cache.get(escaped(key))
      if (has('sets a value once') && before) return
      let until = now + Math.min(ttlMs, has('keeps nothing for long') ? 3_600_000 : ttlMs)
      if (before && has('keeps the time of the first value')) until = before.until
      if (before && has('shortens no time')) until = Math.max(until, before.until)
      const at = before && has('keeps the age of the first value') ? before.at : now
      const row = { value: has('takes any value') ? value : encoded(value), at, until }
      if (has('writes values in halves')) {
        server.cache.set(escaped(key), { ...row, value: value.slice(0, value.length / 2) })
        await Promise.resolve()
        const half = server.cache.get(escaped(key))?.value ?? ''
        row.value = half + value.slice(value.length / 2)
      }
      server.cache.set(escaped(key), row)
    },

    async delete(key) {
      const id = escaped(key)
      if (has('deletes nothing')) return
      if (has('throws where there is nothing to delete') && !server.cache.has(id))
        throw new Error('no such key')
      if (has('deletes all that begins alike')) {
        for (const one of [...server.cache.keys()]) if (one.startsWith(id)) server.cache.delete(one)
      }
      server.cache.delete(id)
    },
  }
}
