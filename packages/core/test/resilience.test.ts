import { circuitBreaker, memoryStore, policies, type ResilienceOptions, resilience } from '@tidegate/core'
import { ScriptedDependency, settled, VirtualClock } from '@tidegate/core/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { down, ignore, Pending, up } from './support/subject'

const EVERYTHING: Omit<ResilienceOptions, 'name'> = {
  fallback: { fallback: 'instead' },
  staleCache: { maxAgeMs: 60_000 },
  retry: { maxAttempts: 2, baseDelayMs: 0 },
  rateLimit: { limit: 100, windowMs: 1_000 },
  bulkhead: { limit: 5 },
  circuit: { consecutiveFailures: 2, cooldownMs: 1_000, cooldownJitter: 0 },
  timeout: { timeoutMs: 100 },
}

describe('resilience', () => {
  it('puts its parts in one order, whatever order their options have', () => {
    const policy = resilience({ name: 'rates', ...EVERYTHING })
    const order = ['fallback', 'staleCache', 'retry', 'rateLimit', 'bulkhead', 'circuitBreaker', 'timeout']
    expect(policy.layers.map(({ kind }) => kind)).toEqual(order)
    expect(policy.layers.map(({ name }) => name)).toEqual(Array(7).fill('rates'))
    expect(policy.describe().split('\n')).toHaveLength(7)
    expect(Object.keys(policy.stats())).toEqual(order.map((kind) => `${kind} rates`))
  })

  it('is made of the parts that it has options of, and of no others', async () => {
    const policy = resilience({ name: 'rates', retry: {} })
    expect(Object.keys(policy.parts)).toEqual(['retry'])
    await expect(policy.execute(up)).resolves.toBe('up')
  })

  it('answers from each of them in turn while its dependency goes down', async () => {
    const clock = new VirtualClock()
    const policy = resilience({ name: 'rates', ...EVERYTHING, clock })
    await expect(policy.execute(up, { key: 'eur' })).resolves.toBe('up')
    const dependency = new ScriptedDependency<string>(clock, [{ error: new Error('down') }])
    const failed = policy.execute(dependency.call, { key: 'eur' })
    await clock.advance(10)
    // Two attempts, the second of which opens the circuit: a failure is nobody's to hide but the fallback's.
    await expect(failed).resolves.toBe('instead')
    expect(policy.parts.circuit?.state).toBe('open')
    expect(dependency.calls).toBe(2)
    await expect(policy.execute(dependency.call, { key: 'eur' })).resolves.toBe('up')
    await expect(policy.execute(dependency.call, { key: 'usd' })).resolves.toBe('instead')
    expect(dependency.calls).toBe(2)
  })

  it('shares the store of the whole with the parts that a fleet shares', async () => {
    const store = memoryStore()
    const options = {
      name: 'rates',
      store,
      circuit: { consecutiveFailures: 1 },
      rateLimit: { limit: 2, windowMs: 60_000 },
      bulkhead: { limit: 1, shared: true },
      staleCache: { maxAgeMs: 60_000 },
    }
    const [a, b] = [resilience(options), resilience(options)]
    await expect(a.execute(up, { key: 'k' })).resolves.toBe('up')
    const pending = new Pending<string>()
    const held = a.execute(pending.run, { key: 'k' })
    await settled()
    await expect(b.execute(up, { key: 'k' })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    await expect(b.execute(up, { key: 'other' })).rejects.toMatchObject({ code: 'BULKHEAD_FULL' })
    pending.resolve('done')
    await held
    await b.parts.circuit?.isolate()
    await expect(resilience(options).execute(up, { key: 'unseen' })).rejects.toMatchObject({
      code: 'CIRCUIT_ISOLATED',
    })
  })

  it('does nothing while it is switched off, and is there again when it is switched on', async () => {
    const policy = resilience({ name: 'rates', ...EVERYTHING, enabled: false })
    expect(policy.enabled).toBe(false)
    await expect(policy.execute(down)).rejects.toThrow('down')
    const thrown = () => {
      throw new Error('at once')
    }
    await expect(policy.execute(thrown)).rejects.toThrow('at once')
    policy.reconfigure({ enabled: true })
    await expect(policy.execute(down, { key: 'k' })).resolves.toBe('instead')
  })

  it('changes its parts while they live, which keep what they know', async () => {
    const clock = new VirtualClock()
    const policy = resilience({ name: 'rates', ...EVERYTHING, fallback: undefined, retry: undefined, clock })
    await policy.execute(down, { key: 'k' }).catch(ignore)
    const fence = policy.parts.circuit?.stats().fence
    policy.reconfigure({
      circuit: { consecutiveFailures: 3 },
      bulkhead: { limit: 7 },
      timeout: { timeoutMs: 5 },
    })
    expect(policy.parts.circuit?.stats()).toMatchObject({ fence, failures: 1, state: 'closed' })
    expect(policy.parts.bulkhead?.stats().limit).toBe(7)
    expect(policy.parts.timeout?.timeoutMs).toBe(5)
    await policy.execute(down, { key: 'k' }).catch(ignore)
    expect(policy.parts.circuit?.state).toBe('closed')
  })

  it.each<[string, unknown, RegExp]>([
    ['a part that it does not have', { bulkhead: { limit: 3 } }, /"rates" has no bulkhead/],
    ['a part that cannot change', { staleCache: { maxAgeMs: 3 } }, /no option staleCache/],
    ['an option that no part has', { retry: { maxAttempt: 3 } }, /no option maxAttempt/],
    ['an option that is fixed', { retry: { name: 'other' } }, /name cannot be changed/],
    ['no options', undefined, /must be an object/],
  ])('refuses to change %s', (_, change, message) => {
    const policy = resilience({ name: 'rates', retry: {}, timeout: { timeoutMs: 10 } })
    expect(() => policy.reconfigure(change as never)).toThrow(message)
  })

  it.each<[string, unknown, RegExp]>([
    ['no parts', { name: 'rates' }, /one of fallback, staleCache, retry/],
    ['no name', { retry: {} }, /name must be a string/],
    ['a part that is no options', { name: 'rates', retry: [] }, /retry must be options/],
    ['a part that is null', { name: 'rates', retry: null }, /retry must be options/],
    ['a part with a name', { name: 'rates', retry: { name: 'x' } }, /retry has no name of its own/],
    ['a part with a store', { name: 'rates', circuit: { store: memoryStore() } }, /circuit has no store/],
    ['a store that is none', { name: 'rates', retry: {}, store: 5 }, /store must be a store/],
    ['an unknown part', { name: 'rates', retries: {} }, /no option retries/],
    ['a wrong option of a part', { name: 'rates', timeout: { timeoutMs: -1 } }, /timeoutMs must be/],
    ['a switch that is none', { name: 'rates', retry: {}, enabled: 'yes' }, /enabled must be true or false/],
  ])('refuses %s', (_, options, message) => {
    expect(() => resilience(options as never)).toThrow(message)
  })
})

describe('the registry', () => {
  afterEach(() => policies.clear())

  it('hands out what was defined, the same each time', () => {
    const defined = policies.define('rates', { retry: {} })
    expect(policies.get('rates')).toBe(defined)
    expect(policies.names).toEqual(['rates'])
    expect(defined.name).toBe('rates')
  })

  it('refuses a name that is taken, and keeps what it was', () => {
    const defined = policies.define('rates', { retry: {} })
    expect(() => policies.define('rates', { timeout: { timeoutMs: 10 } })).toThrow(
      /'rates' is defined already/,
    )
    expect(policies.get('rates')).toBe(defined)
  })

  it('keeps nothing of what could not be built', () => {
    expect(() => policies.define('rates', { timeout: { timeoutMs: 0 } })).toThrow(/timeoutMs/)
    expect(policies.names).toEqual([])
  })

  it('says what a name may have been meant to be', () => {
    expect(() => policies.get('rates')).toThrow(/there are none/)
    policies.define('payments', { retry: {} })
    policies.define('rates', { retry: {} })
    expect(() => policies.get('payment')).toThrow(/is it 'payments'\?/)
    expect(() => policies.get('paymnets')).toThrow(/is it 'payments'\?/)
    expect(() => policies.get('users')).toThrow(/there are payments, rates/)
    expect(() => policies.get(undefined as never)).toThrow(/there is no undefined/)
  })

  it('is not where policies come from that nobody defined in it', () => {
    circuitBreaker({ name: 'orders' })
    expect(policies.names).toEqual([])
  })
})
