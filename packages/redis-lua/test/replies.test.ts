import type { Quota } from '@tidegate/contract'
import { describe, expect, it } from 'vitest'
import { partsBy } from './support/parts'

const quotas: Quota[] = [
  { name: 'gcra', algorithm: 'gcra', limit: 5, windowMs: 1_000, burst: 8 },
  { name: 'fixed', algorithm: 'fixed-window', limit: 6, windowMs: 1_000 },
]

const born = 1_764_560_000_000_000
const at = 1_764_560_000_001

/** allowed, born, seq, at, retryAfterMs, then violated, remaining and resetMs of each */
const allowed = [1, born, 3, at, 0, 0, 7, 200, 0, 5, 1_000]
const denied = [0, 0, 0, 0, 300, 1, 0, 1_600, 0, 5, 1_000]

function refused(asked: Promise<unknown>): Promise<void> {
  return expect(asked).rejects.toMatchObject({ code: 'STORE_UNREADABLE' })
}

const replying = (reply: unknown): ReturnType<typeof partsBy> => partsBy(async () => reply)

/** The same with other numbers in some places. */
function changed(reply: readonly number[], over: Readonly<Record<number, number>>): number[] {
  return reply.map((number, place) => over[place] ?? number)
}

describe('a decision', () => {
  it('is read with the names and limits that were asked for', async () => {
    expect(await replying(allowed).limits.consume('a', quotas, 1)).toEqual({
      allowed: true,
      violated: [],
      retryAfterMs: 0,
      reservation: `${born}.3.${at}.1`,
      quotas: [
        { name: 'gcra', limit: 5, remaining: 7, resetMs: 200 },
        { name: 'fixed', limit: 6, remaining: 5, resetMs: 1_000 },
      ],
    })
    expect(await replying(denied).limits.consume('a', quotas, 1)).toMatchObject({
      allowed: false,
      violated: ['gcra'],
      retryAfterMs: 300,
      reservation: '',
    })
  })

  it('never comes to pass where it says so', async () => {
    const { limits } = replying(changed(denied, { 4: -1 }))
    expect((await limits.consume('a', quotas, 9)).retryAfterMs).toBe(Number.POSITIVE_INFINITY)
  })

  const impossible: [string, unknown][] = [
    ['nothing', []],
    ['no list', 'OK'],
    ['a number more', [...allowed, 0]],
    ['a quota more', [...allowed, 0, 1, 0]],
    ['a quota less', allowed.slice(0, -3)],
    ['less than nothing that remains', changed(allowed, { 6: -1 })],
    ['more that remains than there is', changed(allowed, { 6: 9 })],
    ['a quota that is neither violated nor not', changed(denied, { 5: 2 })],
    ['a cost allowed that violates a quota', changed(allowed, { 5: 1 })],
    ['a cost denied that violates none', changed(denied, { 5: 0 })],
    ['a cost allowed that has to wait', changed(allowed, { 4: 1 })],
    ['a cost denied that has not to wait', changed(denied, { 4: 0 })],
    ['a cost denied for good that fits', changed(denied, { 4: -1 })],
    ['a cost allowed without a reservation', changed(allowed, { 2: 0 })],
    ['a cost denied with a reservation', changed(denied, { 2: 1 })],
  ]
  for (const [what, reply] of impossible) {
    it(`of ${what} is refused`, () => refused(replying(reply).limits.consume('a', quotas, 1)))
  }

  it('of a cost that never fits is refused with a wait', () =>
    refused(replying(denied).limits.consume('a', quotas, 9)))

  it('that was only asked for is refused with a reservation', () =>
    refused(replying(allowed).limits.peek('a', quotas)))
})

describe('an answer about a lease', () => {
  const request = { owner: 'me', limit: 2, leaseMs: 1_000 }

  it('is read', async () => {
    const answer = { ok: true, fence: `${born}.me`, inUse: 1, retryAfterMs: 0 }
    expect(await replying([1, born, 1, 0]).leases.acquire('a', request)).toEqual(answer)
    const other = { ok: false, fence: '', inUse: 2, retryAfterMs: 70 }
    expect(await replying([0, 0, 2, 70]).leases.acquire('a', request)).toEqual(other)
  })

  const impossible: [string, unknown][] = [
    ['a slot without a fence', [1, 0, 1, 0]],
    ['a slot that is not in use', [1, born, 0, 0]],
    ['a slot that has to wait', [1, born, 1, 5]],
    ['no slot, with a fence', [0, born, 2, 70]],
    ['no slot, and no wait', [0, 0, 2, 0]],
    ['no slot, and some that are free', [0, 0, 1, 70]],
    ['a number more', [1, born, 1, 0, 0]],
  ]
  for (const [what, reply] of impossible) {
    it(`of ${what} is refused`, () => refused(replying(reply).leases.acquire('a', request)))
  }

  it('of a renewal is one of two', () => refused(replying([2]).leases.renew('a', 'me', `${born}.me`, 1_000)))
})

describe('what the cache has', () => {
  it('is read', async () => {
    expect(await replying([7, '=null']).cache.get('a')).toEqual({ value: 'null', ageMs: 7 })
    expect(await replying([-1, '=']).cache.get('a')).toBeUndefined()
  })

  const impossible: [string, unknown][] = [
    ['a value without its mark', [7, 'value']],
    ['a value of no age', [-1, '=value']],
    ['an age below 0', [-2, '=value']],
    ['nothing', []],
  ]
  for (const [what, reply] of impossible) {
    it(`is refused with ${what}`, () => refused(replying(reply).cache.get('a')))
  }
})
