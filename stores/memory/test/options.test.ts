import type { Quota } from '@tidegate/contract'
import { describe, expect, it } from 'vitest'
import { type MemoryStoreOptions, memoryStore } from '../src'
import { circuitsOf, tally, terms } from './support/caller'
import { cacheOf, leasesOf, limitsOf } from './support/parts'

describe('options', () => {
  const wrong: [string, unknown, string][] = [
    ['maxKeys', { maxKeys: 0 }, 'maxKeys must be a whole number, at least 1, got 0'],
    ['maxKeys', { maxKeys: 1.5 }, 'maxKeys must be a whole number, at least 1, got 1.5'],
    ['maxKeys', { maxKeys: '10' }, "maxKeys must be a whole number, at least 1, got '10'"],
    ['maxKeys', { maxKeys: null }, 'maxKeys must be a whole number, at least 1, got null'],
    ['maxKeys', { maxKeys: Number.POSITIVE_INFINITY }, 'maxKeys must be'],
    ['clock', { clock: {} }, 'clock must have a method now, got an object'],
    ['clock', { clock: null }, 'clock must have a method now, got null'],
    ['an unknown one', { maxkeys: 10 }, 'there is no option maxkeys'],
  ]
  for (const [option, options, message] of wrong) {
    it(`refuses ${JSON.stringify(options)}, and names ${option}`, () => {
      expect(() => memoryStore(options as MemoryStoreOptions)).toThrow(TypeError)
      expect(() => memoryStore(options as MemoryStoreOptions)).toThrow(message)
    })
  }

  it('may be left out, and be undefined', () => {
    expect(() => [memoryStore(), memoryStore({}), memoryStore({ maxKeys: undefined })]).not.toThrow()
  })
})

describe('a command', () => {
  const circuits = circuitsOf(memoryStore())
  const { fence } = circuits.readState('a', terms())

  const wrongTerms: [string, object][] = [
    ['terms.instance', { instance: '' }],
    ['terms.nonce', { nonce: 'a b' }],
    ['terms.nonce', { nonce: '~a' }],
    ['terms.deadline', { deadline: Number.NaN }],
    ['terms.window.ms', { window: { kind: 'time', ms: 0 } }],
    ['terms.window.ms', { window: { kind: 'time', ms: 0.5 } }],
    ['terms.window.calls', { window: { kind: 'count', calls: 0 } }],
    ['terms.window', { window: { kind: 'times' } }],
    ['terms.window', { window: undefined }],
    ['terms.cooldownMs', { cooldownMs: 0.5 }],
    ['terms.leaseMs', { leaseMs: -1 }],
    ['terms.owner', { owner: '' }],
    ['terms.yield', { yield: false }],
    ['terms.succeeded', { succeeded: 'yes' }],
  ]
  for (const [field, over] of wrongTerms) {
    it(`is refused with ${JSON.stringify(over)}, by ${field}`, () => {
      expect(() => circuits.readState('a', terms(over))).toThrow(`${field} must be`)
      expect(() => circuits.readState('a', terms(over))).toThrow(TypeError)
    })
  }

  const wrongTallies: [string, object][] = [
    ['tally.seq', { seq: -1 }],
    ['tally.successes', { successes: 0.5 }],
    ['tally.failures', { failures: -1 }],
    ['tally.slow', { successes: 1, slow: 2 }],
    ['tally.trailingFailures', { successes: 1, failures: 1, trailingFailures: 2 }],
    ['tally.trailingFailures', { failures: 2, trailingFailures: 1 }],
  ]
  for (const [field, over] of wrongTallies) {
    it(`is refused with a tally of ${JSON.stringify(over)}, by ${field}`, () => {
      expect(() => circuits.record('a', fence, tally(1, over), terms())).toThrow(`${field} must be`)
    })
  }

  it('is refused without a name, a fence or a state that is one', () => {
    expect(() => circuits.readState('', terms())).toThrow('name must be')
    expect(() => circuits.forget('')).toThrow('name must be')
    expect(() => circuits.record('a', 'local:1', tally(1), terms())).toThrow('fence must be')
    expect(() => circuits.compareAndSet('a', 'constructor' as 'open', 'open', fence, terms())).toThrow(
      'from must be',
    )
    expect(() => circuits.compareAndSet('a', 'closed', 'opened' as 'open', fence, terms())).toThrow(
      'to must be',
    )
  })

  it('that takes a permit is refused where it does not say whose', () => {
    expect(() => circuits.compareAndSet('a', 'open', 'half-open', fence, terms())).toThrow(
      'terms.owner must be',
    )
  })

  it('is refused without a word of what might be a user’s', () => {
    expect(() => circuits.readState('a', terms({ nonce: 'secret secret' }))).not.toThrow(/secret/)
  })

  it('that is refused changes nothing', () => {
    expect(circuits.readState('a', terms())).toMatchObject({ state: 'closed', fence, fleet: 1 })
  })
})

describe('a command of the other parts', () => {
  const store = memoryStore()
  const [limits, leases, cache] = [limitsOf(store), leasesOf(store), cacheOf(store)]
  const quota: Quota = { name: 'q', algorithm: 'gcra', limit: 10, windowMs: 1_000 }
  const request = { owner: 'a', limit: 1, leaseMs: 1_000 }
  const { fence } = leases.acquire('name', request)

  const wrong: [string, string, () => unknown][] = [
    ['consume', 'key must be', () => limits.consume('', [quota], 1)],
    ['consume', 'quotas must be', () => limits.consume('key', [], 1)],
    ['consume', 'quotas[0].limit must be', () => limits.consume('key', [{ ...quota, limit: 0 }], 1)],
    ['consume', 'cost must be', () => limits.consume('key', [quota], 0.5)],
    ['peek', 'key must be', () => limits.peek('', [quota])],
    ['peek', 'quotas[0].windowMs must be', () => limits.peek('key', [{ ...quota, windowMs: 0 }])],
    ['settle', 'key must be', () => limits.settle('', [quota], '', 1)],
    ['settle', 'quotas must be', () => limits.settle('key', [], '', 1)],
    ['settle', 'cost must be', () => limits.settle('key', [quota], '', -1)],
    ['reset', 'key must be', () => limits.reset('')],
    ['acquire', 'name must be', () => leases.acquire('', request)],
    ['acquire', 'limit must be', () => leases.acquire('name', { ...request, limit: 0 })],
    ['renew', 'name must be', () => leases.renew('', 'a', fence, 1)],
    ['renew', 'owner must be', () => leases.renew('name', 'a b', fence, 1)],
    ['renew', 'fence must be', () => leases.renew('name', 'a', '', 1)],
    ['renew', 'leaseMs must be', () => leases.renew('name', 'a', fence, 0)],
    ['release', 'name must be', () => leases.release('', 'a', fence)],
    ['release', 'owner must be', () => leases.release('name', '', fence)],
    ['release', 'fence must be', () => leases.release('name', 'a', '1')],
    ['get', 'key must be', () => cache.get('')],
    ['set', 'key must be', () => cache.set('', '', { ttlMs: 1 })],
    ['set', 'value must be', () => cache.set('key', 1 as unknown as string, { ttlMs: 1 })],
    ['set', 'ttlMs must be', () => cache.set('key', '', { ttlMs: 0 })],
    ['delete', 'key must be', () => cache.delete('')],
  ]
  for (const [command, message, run] of wrong) {
    it(`is refused where it is wrong: ${command}, by ${message}`, () => {
      expect(run).toThrow(message)
      expect(run).toThrow(TypeError)
    })
  }

  it('that is refused changes nothing', () => {
    expect(limits.peek('key', [quota]).quotas[0]?.remaining).toBe(10)
    expect(leases.acquire('name', request)).toMatchObject({ fence, inUse: 1 })
    expect(cache.get('key')).toBeUndefined()
  })
})
