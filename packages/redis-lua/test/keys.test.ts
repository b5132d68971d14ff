import type { CircuitState, Quota, Terms } from '@tidegate/contract'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../test/support/redis/index'
import { until } from '../../../test/support/until'
import { assembleAll } from '../build/scripts'
import { keyOf } from '../src/names'
import * as generated from '../src/scripts.generated'
import { circuitsOver, failures, terms } from './support/circuits'
import { partsOver } from './support/parts'

const server = await startRedis()
const node = await startRedis({ config: { 'cluster-enabled': 'yes' } })
afterAll(() => Promise.all([server.stop(), node.stop()]))
beforeEach(() => server.command('FLUSHALL'))

const scripts = Object.values(generated)
const NAMES = ['payments', 'a{b}c', '{}', '}{', '日本', '\ud800', 'a:b', ' ']

describe('the keys of a script', () => {
  it('are in its text by the names that it declares, and never put together there', () => {
    const allowed = ['TIME', 'PUBLISH'].map((command) => `${command} `)
    for (const { text, keys } of assembleAll()) {
      const own = [...keys.map((key) => `${key}_key`), 'key', 'unpack(KEYS']
      for (const [, command = '', argument = ''] of text.matchAll(/redis\.p?call\('(\w+)'(?:, ([\w(]+))?/g)) {
        if (!allowed.includes(`${command} `)) expect(own).toContain(argument)
      }
    }
  })

  it('lie in one slot, whatever the name of the circuit', async () => {
    for (const name of NAMES) {
      const slots = new Set<unknown>()
      for (const part of new Set(scripts.flatMap(({ keys }) => keys))) {
        slots.add(await node.command('CLUSTER', 'KEYSLOT', keyOf('tidegate', name, part)))
      }
      expect(slots).toHaveLength(1)
    }
  })

  it('lie in another slot for most other names', async () => {
    const slots = new Set<unknown>()
    for (let n = 0; n < 100; n++) {
      slots.add(await node.command('CLUSTER', 'KEYSLOT', keyOf('tidegate', `circuit-${n}`, 'counts')))
    }
    expect(slots.size).toBeGreaterThan(90)
  })

  it('are all that it touches: a user who may touch no others can do everything', async () => {
    const keys = new Set(scripts.flatMap(({ keys }) => keys.map((key) => keyOf('tidegate', 'a', key))))
    await server.command(
      'ACL',
      'SETUSER',
      'narrow',
      'on',
      '>pass',
      '+@all',
      '&*',
      ...[...keys].map((key) => `~${key}`),
    )
    await server.command('AUTH', 'narrow', 'pass')
    try {
      await expect(server.command('GET', 'tidegate:{a}:other')).rejects.toThrow('NOPERM')
      await everything(server)
      await everythingElse(server)
    } finally {
      await server.command('AUTH', 'default', '')
    }
  })
})

/** Consumes, denied and not, settles in and out of order, takes slots and gives them back, remembers and forgets. */
async function everythingElse(server: RedisServer): Promise<void> {
  const { limits, leases, cache } = partsOver(server)
  const quotas: Quota[] = (['gcra', 'sliding-window', 'fixed-window'] as const).map((algorithm) => {
    return { name: algorithm, algorithm, limit: 1_100, windowMs: 60_000 }
  })
  const reservations: string[] = []
  for (let n = 0; n < 1_100; n++) {
    reservations.push((await limits.consume('a', quotas, 1)).reservation)
    if (n % 50 !== 0) await limits.settle('a', quotas, reservations.at(-1) ?? '', 1)
  }
  expect((await limits.consume('a', quotas, 1)).allowed).toBe(false)
  expect((await limits.peek('a', quotas)).allowed).toBe(false)
  await limits.settle('a', quotas, reservations[0] ?? '', 0)
  await limits.reset('a')
  const request = { owner: 'me', limit: 1, leaseMs: 1 }
  await until('a lease to lapse', async () => {
    const { fence } = await leases.acquire('a', {
      ...request,
      owner: `another-${Math.random().toString(36).slice(2)}`,
    })
    return fence !== '' && (await leases.renew('a', 'me', fence, 1)) === false
  })
  const { fence } = await until('a slot', async () => {
    const answer = await leases.acquire('a', { ...request, leaseMs: 60_000 })
    return answer.ok && answer
  })
  expect((await leases.acquire('a', { ...request, owner: 'another' })).ok).toBe(false)
  expect(await leases.renew('a', 'me', fence, 60_000)).toBe(true)
  await leases.release('a', 'me', fence)
  await cache.set('a', 'value', { ttlMs: 60_000 })
  expect((await cache.get('a'))?.value).toBe('value')
  await cache.delete('a')
}

/** Goes through every swap, and counts in windows of more shapes than are kept. */
async function everything(server: RedisServer): Promise<void> {
  const circuits = circuitsOver(server)
  let seq = 0
  const swap = async (from: CircuitState, to: CircuitState, over: Partial<Terms> = {}): Promise<void> => {
    const { fence } = await circuits.readState('a', terms())
    for (let ms = 10; ms <= 60; ms += 10) {
      await circuits.record('a', fence, failures(++seq), terms({ window: { kind: 'time', ms } }))
    }
    await circuits.record('a', fence, failures(++seq), terms({ window: { kind: 'consecutive' } }))
    await until(`${from} -> ${to}`, async () => {
      const owned = to === 'half-open' ? { owner: 'me' } : {}
      return (await circuits.compareAndSet('a', from, to, fence, terms({ ...owned, ...over }))).ok
    })
  }
  await swap('closed', 'open')
  await swap('open', 'half-open')
  await swap('half-open', 'half-open', { yield: true, succeeded: true })
  await swap('half-open', 'half-open')
  await swap('half-open', 'closed')
  await swap('closed', 'isolated')
  await swap('isolated', 'closed')
  for (let n = 0; n < 1100; n++) await circuits.readState('a', terms({ instance: `instance-${n}` }))
  await circuits.forget('a')
}
