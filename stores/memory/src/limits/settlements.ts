import { MAX_SETTLED } from '@tidegate/contract'

/**
 * Which consumptions of a key are settled: the latest so many of them one by one,
 * and all that are not later than `#floor` for good.
 */
export class Settlements {
  #floor = 0
  /** Those above the floor, rising. */
  readonly #seqs: number[] = []

  /** @returns whether it was not settled before, and now is */
  mark(seq: number): boolean {
    if (seq <= this.#floor) return false
    const place = this.#placeOf(seq)
    if (this.#seqs[place] === seq) return false
    this.#seqs.splice(place, 0, seq)
    if (this.#seqs.length > MAX_SETTLED) this.#floor = this.#seqs.shift() as number
    this.#joinFloor()
    return true
  }

  /** What follows the floor without a gap needs no place of its own: mostly nothing is left. */
  #joinFloor(): void {
    let joined = 0
    while (this.#seqs[joined] === this.#floor + 1 + joined) joined++
    if (joined === 0) return
    this.#floor += joined
    this.#seqs.splice(0, joined)
  }

  /** Where it is, or would be: near the end, for most are settled soon. */
  #placeOf(seq: number): number {
    let [low, high] = [0, this.#seqs.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#seqs[middle] as number) < seq) low = middle + 1
      else high = middle
    }
    return low
  }
}
