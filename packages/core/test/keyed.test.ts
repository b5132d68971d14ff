import { type CircuitBreakerOptions, circuitBreaker } from '@tidegate/core'
import { describe, expect, it } from 'vitest'
import { failTimes, up } from './support/subject'
import { VirtualClock } from './support/virtual-clock'

function build(maxKeys: number, options: Partial<CircuitBreakerOptions> = {}) {
  const clock = new VirtualClock()
  const family = circuitBreaker.keyed({ name: 'hosts', minimumCalls: 4, clock, ...options }, { maxKeys })
  return { clock, family }
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
})
