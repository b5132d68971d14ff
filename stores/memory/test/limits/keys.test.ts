import { fenceDigits, MAX_SETTLED, parseReservation, type Quota, type Reservation } from '@tidegate/contract'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src'
import { circuitsOf, terms } from '../support/caller'
import { handClock } from '../support/clock'
import { limitsOf } from '../support/parts'

function quota(over: Partial<Quota> = {}): Quota {
  return { name: 'q', algorithm: 'sliding-window', limit: 10, windowMs: 1_000, ...over }
}

function begun() {
  const clock = handClock()
  const store = memoryStore({ clock })
  const limits = limitsOf(store)
  const remains = (...quotas: Quota[]) => limits.peek('key', quotas).quotas.map(({ remaining }) => remaining)
  return { clock, store, limits, remains }
}

describe('a quota of a key', () => {
  it('goes on with what was consumed under another limit or burst', () => {
    const { limits, remains } = begun()
    limits.consume('key', [quota(), quota({ name: 'g', algorithm: 'gcra' })], 6)
    expect(remains(quota({ limit: 20 }), quota({ name: 'g', algorithm: 'gcra', burst: 7 }))).toEqual([14, 1])
    expect(limits.consume('key', [quota({ limit: 5 })], 0)).toMatchObject({ allowed: false })
  })

  it('drains by the limit of whoever asks to consume, be it denied', () => {
    const { clock, limits, remains } = begun()
    const fast = quota({ algorithm: 'gcra' })
    limits.consume('key', [fast], 10)
    clock.advance(500)
    limits.consume('key', [quota({ algorithm: 'gcra', limit: 1 })], 1)
    expect(remains(fast)).toEqual([0])
    clock.advance(50)
    expect(remains(fast)).toEqual([1])
  })

  it('begins anew in another window, by another algorithm and under another name, beside the old one', () => {
    const { limits, remains } = begun()
    const others = [quota({ windowMs: 999 }), quota({ name: 'r', algorithm: 'gcra' }), quota({ name: 's' })]
    limits.consume('key', [quota()], 6)
    expect(remains(...others.slice(0, 1))).toEqual([10])
    expect(remains(quota({ algorithm: 'gcra' }))).toEqual([10])
    expect(remains(...others.slice(1))).toEqual([10, 10])
    limits.consume('key', [quota({ windowMs: 999 })], 3)
    expect([remains(quota()), remains(quota({ windowMs: 999 }))]).toEqual([[4], [7]])
  })

  it('makes room, where there are sixteen, if it is the longest unnamed', () => {
    const { limits, remains } = begun()
    const named = Array.from({ length: 16 }, (_, index) => quota({ name: `q${index}` }))
    for (const one of named) limits.consume('key', [one], 1)
    limits.consume('key', [named[0] as Quota], 1)
    limits.consume('key', [quota({ name: 'q16' })], 1)
    expect(named.flatMap((one) => remains(one))).toEqual([8, 10, ...Array(14).fill(9)])
  })

  it('makes no room while another has nothing in it', () => {
    const { clock, limits, remains } = begun()
    const lasting = Array.from({ length: 15 }, (_, index) => quota({ name: `q${index}`, windowMs: 60_000 }))
    for (const one of lasting) limits.consume('key', [one], 1)
    limits.consume('key', [quota()], 1)
    clock.advance(1_000)
    limits.consume('key', [quota({ name: 'another' })], 1)
    expect(lasting.flatMap((one) => remains(one))).toEqual(Array(15).fill(9))
  })
})

describe('a key', () => {
  it('is kept until all of a burst has drained', () => {
    const { clock, limits, remains } = begun()
    const burst = quota({ algorithm: 'gcra', limit: 1, burst: 100 })
    limits.consume('key', [burst], 100)
    clock.advance(99_999)
    expect(remains(burst)).toEqual([99])
    clock.advance(1)
    expect(remains(burst)).toEqual([100])
  })

  it('is kept for what was reserved in its longest window, whatever else is consumed of it', () => {
    const { clock, limits } = begun()
    const long = quota({ name: 'l', algorithm: 'gcra', limit: 1_000, windowMs: 60_000 })
    const { reservation } = limits.consume('key', [long], 1)
    clock.advance(100)
    limits.consume('key', [quota()], 1)
    clock.advance(5_000)
    limits.settle('key', [long], reservation, 1_001)
    expect(limits.peek('key', [long]).quotas).toMatchObject([{ remaining: 0 }])
  })

  it('is not kept by what it is denied', () => {
    const { clock, limits } = begun()
    const consume = (cost: number) => parseReservation(limits.consume('key', [quota()], cost).reservation)
    consume(10)
    clock.advance(999)
    consume(10)
    clock.advance(1)
    expect(consume(10)).toMatchObject({ seq: 1 })
  })

  it('is another one after a reset, and after its time, born later', () => {
    const { clock, limits } = begun()
    const life = (): Reservation =>
      parseReservation(limits.consume('key', [quota()], 1).reservation) as Reservation
    const lives = [life()]
    expect(life()).toMatchObject({ born: lives[0]?.born, seq: 2 })
    limits.reset('key')
    lives.push(life())
    clock.advance(1_000)
    lives.push(life())
    clock.advance(-3_600_000)
    limits.reset('key')
    lives.push(life())
    const births = lives.map(({ born }) => born)
    expect(births).toEqual([...new Set(births)].sort((a, b) => a - b))
    expect(lives.map(({ seq }) => seq)).toEqual([1, 1, 1, 1])
  })

  it('is born at no moment at which a fence was minted', () => {
    const { limits, store } = begun()
    const fence = (name: string): number =>
      fenceDigits(circuitsOf(store).readState(name, terms({ cooldownMs: 1_000 })).fence)
    const before = fence('a')
    const { born } = parseReservation(limits.consume('key', [quota()], 1).reservation) as Reservation
    expect(born).toBeGreaterThan(before)
    expect(fence('b')).toBeGreaterThan(born)
  })

  it('settles what it can read, and made, and nothing else', () => {
    const { limits, remains } = begun()
    const { reservation } = limits.consume('key', [quota()], 5)
    const made = parseReservation(reservation) as Reservation
    const forged = [
      '',
      'x',
      `${reservation}.`,
      `${made.born}.0.${made.at}.5`,
      `${made.born}.2.${made.at}.5`,
      `${made.born + 1}.1.${made.at}.5`,
    ]
    for (const text of forged) limits.settle('key', [quota()], text, 0)
    limits.settle('other', [quota()], reservation, 0)
    expect(remains(quota())).toEqual([5])
    limits.settle('key', [quota()], reservation, 2)
    expect(remains(quota())).toEqual([8])
    limits.settle('key', [quota()], reservation, 0)
    expect(remains(quota())).toEqual([8])
  })

  it('settles in those quotas whose window is not over, and not again in any', () => {
    const { clock, limits, remains } = begun()
    const [short, long] = [quota({ name: 's', windowMs: 100 }), quota({ name: 'l', windowMs: 10_000 })]
    const { reservation } = limits.consume('key', [short, long], 5)
    clock.advance(100)
    limits.settle('key', [short, long], reservation, 1)
    expect(remains(short, long)).toEqual([10, 9])
    limits.settle('key', [short, long], reservation, 0)
    expect(remains(short, long)).toEqual([10, 9])
  })

  it('does not mark as settled what is too late to be', () => {
    const { clock, limits, remains } = begun()
    const [short, long] = [quota({ name: 's', windowMs: 100 }), quota({ name: 'l', windowMs: 10_000 })]
    const { reservation } = limits.consume('key', [short, long], 5)
    clock.advance(100)
    limits.settle('key', [short], reservation, 0)
    limits.settle('key', [long], reservation, 0)
    expect(remains(long)).toEqual([10])
  })

  it('settles none that is older than the latest it remembers', () => {
    const { limits, remains } = begun()
    const large = quota({ limit: 10_000 })
    const consumed = Array.from(
      { length: MAX_SETTLED + 2 },
      () => limits.consume('key', [large], 1).reservation,
    )
    for (const reservation of consumed.slice(1)) limits.settle('key', [large], reservation, 0)
    expect(remains(large)).toEqual([9_999])
    limits.settle('key', [large], consumed[0] as string, 0)
    expect(remains(large)).toEqual([9_999])
  })

  it('is not made by a look, a denial or a settle, and one of them does not keep it', () => {
    const clock = handClock()
    const limits = limitsOf(memoryStore({ clock, maxKeys: 1 }))
    limits.consume('key', [quota()], 1)
    limits.peek('other', [quota()])
    limits.consume('other', [quota()], 11)
    limits.settle('other', [quota()], '1.1.1.1', 0)
    expect(limits.peek('key', [quota()]).quotas).toMatchObject([{ remaining: 9 }])
  })

  it('tells of itself only with what was asked for, in the order of that', () => {
    const { limits } = begun()
    const [one, two] = [quota({ name: 'one', limit: 1 }), quota({ name: 'two', limit: 2 })]
    limits.consume('key', [one, two], 1)
    expect(limits.consume('key', [two, one], 1)).toEqual({
      allowed: false,
      violated: ['one'],
      retryAfterMs: 1_000,
      reservation: '',
      quotas: [
        { name: 'two', limit: 2, remaining: 1, resetMs: 1_000 },
        { name: 'one', limit: 1, remaining: 0, resetMs: 1_000 },
      ],
    })
  })
})
