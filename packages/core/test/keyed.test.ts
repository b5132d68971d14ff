import { type CircuitBreakerOptions, circuitBreaker, memoryStore, type Store } from '@tidegate/core'
import { describe, expect, it } from 'vitest'
import { failTimes, ignore, Pending, up } from './support/subject'
import { settled, VirtualClock } from './support/virtual-clock'
import { WaywardStore } from './support/wayward-store'

function build(maxKeys: number, options: Partial<CircuitBreakerOptions> = {}) {
  const clock = new VirtualClock()
  const family = circuitBreaker.keyed({ name: 'hosts', minimumCalls: 4, clock, ...options }, { maxKeys })
  return { clock, family }
}

/** A family over a store across a network. */
function buildOver(maxKeys: number, options: Partial<CircuitBreakerOptions> = {}) {
  const clock = new VirtualClock()
  const inner = memoryStore({ clock })
  const store = new WaywardStore(inner)
  const family = circuitBreaker.keyed(
    { name: 'hosts', minimumCalls: 4, cooldownMs: 1_000, cooldownJitter: 0, clock, store, ...options },
    { maxKeys },
  )
  return { clock, inner, store, family }
}

function fleetSeen(store: Store, circuit: string): unknown {
  const terms = { instance: 'witness', nonce: 'n', window: { kind: 'time', ms: 30_000 } } as const
  const snapshot = store.circuits.readState(circuit, { ...terms, cooldownMs: 1, leaseMs: 1 })
  // The witness is one itself.
  return (snapshot as { fleet: number }).fleet - 1
}

describe('a breaker per key', () => {
  it('keeps the circuits of its keys apart', async () => {
    const { family } = build(10)
    await failTimes(family.for('a'), 4)
    expect(family.for('a').state).toBe('open')
    expect(family.for('b').state).toBe('closed')
    expect(family.for('a')).toBe(family.for('a'))
    expect(family.for('a').name).toBe('hosts|a')
  })

  it('keeps at most maxKeys, the most recently used', async () => {
    const { family } = build(3)
    const a = family.for('a')
    for (const key of ['b', 'c']) family.for(key)
    family.for('a')
    family.for('d')
    expect([...family.entries()].map(([key]) => key)).toEqual(['c', 'a', 'd'])
    expect(family.for('a')).toBe(a)
    for (let key = 0; key < 10_000; key++) family.for(String(key))
    expect(family.size).toBe(3)
  })

  it('evicts none that is open or isolated', async () => {
    const { family } = build(3)
    await failTimes(family.for('open'), 4)
    await family.for('isolated').isolate()
    for (let key = 0; key < 1_000; key++) await family.for(String(key)).execute(up)
    expect(family.for('open').state).toBe('open')
    expect(family.for('isolated').state).toBe('isolated')
    expect(family.size).toBe(3)
  })

  it('serves a further key when all that are kept must be, without growing', async () => {
    const { family } = build(20)
    for (let key = 0; key < 20; key++) await failTimes(family.for(`down ${key}`), 4)
    expect(await family.for('other').execute(up)).toBe('up')
    expect(family.size).toBe(20)
    for (let key = 0; key < 20; key++) expect(family.for(`down ${key}`).state).toBe('open')
  })

  it('lets an open one go when nobody has used it for longer than its circuit is kept', async () => {
    const { clock, family } = build(1)
    await failTimes(family.for('down'), 4)
    await clock.advance(700_000)
    await family.for('other').execute(up)
    expect([...family.entries()].map(([key]) => key)).toEqual(['other'])
  })

  it('refuses keys that cannot be one', () => {
    const { family } = build(3)
    for (const key of ['', 'x'.repeat(1_025), undefined, 7, null]) {
      expect(() => family.for(key as string)).toThrow('a key must be a string of 1 to 1024 characters')
    }
    for (const key of ['__proto__', 'constructor', '{a}', 'a|b', 'a\nb'])
      expect(family.for(key).state).toBe('closed')
  })

  it('refuses options that cannot be', () => {
    expect(() => circuitBreaker.keyed({ name: 'hosts' }, { maxKeys: 0 })).toThrow(
      'maxKeys must be a whole number',
    )
    expect(() => circuitBreaker.keyed({ name: 'hosts' }, { max: 1 } as never)).toThrow(
      'there is no option max',
    )
  })

  it('closes and flushes them all', async () => {
    const { family } = build(3)
    await family.for('a').execute(up)
    await family.flush()
    await family[Symbol.asyncDispose]()
    expect(family.size).toBe(0)
  })

  it('is one instance to the store, however often the breaker of a key is made anew', async () => {
    const { clock, inner, family } = buildOver(2)
    for (let round = 0; round < 50; round++) {
      for (const key of ['a', 'b', 'c']) await family.for(key).execute(up)
    }
    await clock.advance(200)
    for (const key of ['a', 'b', 'c']) expect(fleetSeen(inner, `hosts|${key}`)).toBe(1)
  })

  it('counts every outcome once, however often the breaker of a key is made anew', async () => {
    const { clock, family } = buildOver(1, { minimumCalls: 1_000 })
    for (let round = 0; round < 20; round++) {
      for (const key of ['a', 'b']) await failTimes(family.for(key), 1)
    }
    await clock.advance(200)
    await family.for('a').execute(up)
    await family.for('a').flush()
    expect(family.for('a').stats()).toMatchObject({ successes: 1, failures: 20 })
  })

  it('serves a key for which there is no room with one breaker while it is used', async () => {
    const { clock, inner, store, family } = buildOver(2)
    for (const key of ['a', 'b']) await failTimes(family.for(key), 4)
    const sent = store.sent.length
    for (let call = 0; call < 300; call++) await family.for('c').execute(up)
    await family.flush()
    expect(store.sent.slice(sent).map(({ method }) => method)).toEqual(['readState', 'record'])
    expect(fleetSeen(inner, 'hosts|c')).toBe(1)
    expect(family.size).toBe(2)
    // Nor does it keep ever more of them.
    const first = family.for('c')
    for (let key = 0; key < 100; key++) await family.for(`other ${key}`).execute(up)
    expect(family.for('c')).not.toBe(first)
    expect(family.size).toBe(2)
    await clock.advance(1_000)
    // When there is room it is kept as any other.
    const c = family.for('c')
    await family.for('a').execute(up)
    await settled()
    expect(family.for('a').state).toBe('closed')
    for (let turn = 0; turn < 3; turn++) expect(family.for('c')).toBe(c)
    expect([...family.entries()].map(([key]) => key).sort()).toEqual(['b', 'c'])
  })

  it('does not take the probe of a breaker that was evicted for its own', async () => {
    const { clock, family } = buildOver(1)
    const evicted = family.for('a')
    await evicted.execute(up)
    await family.for('b').execute(up)
    const present = family.for('a')
    expect(present).not.toBe(evicted)
    await failTimes(present, 4)
    await clock.advance(1_000)
    await present.execute(up)
    await settled()
    expect(present.state).toBe('closed')
    await clock.advance(100)
    await evicted.execute(up)
    await settled()
    await failTimes(evicted, 4)
    expect(evicted.state).toBe('open')
    await clock.advance(60_000)
    const probe = new Pending<string>()
    const probing = evicted.execute(probe.run)
    await settled()
    expect(evicted.state).toBe('half-open')
    for (let call = 0; call < 5; call++) {
      await present.execute(up).catch(ignore)
      await clock.advance(100)
    }
    expect(present.state).toBe('half-open')
    probe.resolve('up')
    await expect(probing).resolves.toBe('up')
    await settled()
    expect(evicted.state).toBe('closed')
  })

  it('has a circuit of its own, whatever bars are in the names', async () => {
    const clock = new VirtualClock()
    const store = memoryStore({ clock })
    const names = ['api', 'api|v2', 'api%7Cv2', 'api%', 'api%25']
    const families = names.map((name) => circuitBreaker.keyed({ name, store, clock }))
    const breakers = families.flatMap((family) => ['acme', 'v2|acme', '|acme'].map((key) => family.for(key)))
    expect(new Set(breakers.map(({ name }) => name)).size).toBe(breakers.length)
    expect(breakers.slice(0, 2).map(({ name }) => name)).toEqual(['api|acme', 'api|v2|acme'])
    expect(families.map(({ name }) => name)).toEqual(names)
    await families[1]?.for('acme').isolate()
    await expect(families[0]?.for('v2|acme').execute(up)).resolves.toBe('up')
  })

  it('reads before each call from then on, when its family is to be strict', async () => {
    const { store, family } = buildOver(2)
    for (const key of ['a', 'b']) await family.for(key).execute(up)
    family.reconfigure({ consistency: 'strict' })
    const reads = store.count('readState')
    for (const key of ['a', 'b', 'a', 'b']) await family.for(key).execute(up)
    expect(store.count('readState') - reads).toBe(4)
  })

  it('is reconfigured with all the others, whose options are checked once', async () => {
    const { family } = build(3, { minimumCalls: 50 })
    for (const key of ['a', 'b', 'c']) await failTimes(family.for(key), 2)
    let looked = 0
    const backoff = Object.defineProperty({ factor: 2 }, 'maxMs', {
      enumerable: true,
      get: () => {
        looked++
        return 300_000
      },
    }) as { factor: number; maxMs: number }
    family.for('a').reconfigure({ cooldownBackoff: backoff })
    const once = looked
    looked = 0
    family.reconfigure({ cooldownBackoff: backoff })
    expect(looked).toBe(once)
    family.reconfigure({ minimumCalls: 3 })
    for (const key of ['a', 'b', 'c']) {
      await failTimes(family.for(key), 1)
      expect(family.for(key).state).toBe('open')
    }
  })
})
