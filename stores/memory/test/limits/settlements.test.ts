import { MAX_SETTLED } from '@tidegate/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Settlements } from '../../src/limits/settlements'
import { heapInUse } from '../support/heap'
import { seed, seeded } from '../support/seed'

/** The rule by the letter: the latest so many, and the highest that ever left them. */
class Letter {
  #floor = 0
  readonly #seqs = new Set<number>()

  mark(seq: number): boolean {
    if (seq <= this.#floor || this.#seqs.has(seq)) return false
    this.#seqs.add(seq)
    if (this.#seqs.size > MAX_SETTLED) {
      const lowest = Math.min(...this.#seqs)
      this.#seqs.delete(lowest)
      this.#floor = Math.max(this.#floor, lowest)
    }
    return true
  }
}

describe(`settlements, ${seeded}`, () => {
  it('are those of the rule, in whatever order they come', () => {
    // Near to each other, for them to meet; more than are remembered, for them to leave.
    const orders = fc.tuple(fc.constantFrom(1, 5, 100, 3_000), fc.infiniteStream(fc.nat(1_000_000)))
    fc.assert(
      fc.property(orders, ([spread, randoms]) => {
        const [settlements, letter] = [new Settlements(), new Letter()]
        for (let index = 1; index <= 3_000; index++) {
          const { value } = randoms.next() as { value: number }
          const seq = Math.max(1, index - (value % spread))
          expect(settlements.mark(seq)).toBe(letter.mark(seq))
        }
      }),
      { seed, numRuns: 10 },
    )
  })

  it('mark each once', () => {
    const settlements = new Settlements()
    expect([3, 1, 3, 2, 1, 2].map((seq) => settlements.mark(seq))).toEqual([
      true,
      true,
      false,
      true,
      false,
      false,
    ])
  })

  it('keep nothing of what was settled in its order, or nearly', () => {
    const collect = heapInUse()
    const all = Array.from({ length: 100 }, () => new Settlements())
    const before = collect()
    for (const settlements of all) {
      for (let seq = 2; seq <= 1_000; seq += 2) [seq, seq - 1].map((one) => settlements.mark(one))
    }
    // Each of a thousand numbers would come to some 800 KB.
    expect(collect() - before).toBeLessThan(200_000)
    expect(all.every((settlements) => !settlements.mark(1_000))).toBe(true)
  })

  it('take none that is older than the latest they remember', () => {
    const settlements = new Settlements()
    for (let seq = 3; seq < 3 + MAX_SETTLED; seq++) settlements.mark(seq)
    expect(settlements.mark(2)).toBe(true)
    expect(settlements.mark(3 + MAX_SETTLED)).toBe(true)
    expect(settlements.mark(1)).toBe(false)
  })

  it('take nothing that no consumption is called', () => {
    expect(new Settlements().mark(0)).toBe(false)
  })
})
