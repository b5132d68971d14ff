import { Emitter } from '../events'

/**
 * The user's `random`, as far as it gives numbers from 0 to below 1. Where it does not,
 * chance is our own, which is said once: what is drawn decides on cooldowns and waits,
 * in the background too, where nobody would hear of a broken one.
 */
export function reliable(random: () => number): () => number {
  const console = new Emitter()
  return () => {
    try {
      const drawn = random()
      if (typeof drawn === 'number' && drawn >= 0 && drawn < 1) return drawn
      console.complain('random', new RangeError(`it gave ${String(drawn)}, not a number from 0 to below 1`))
    } catch (error) {
      console.complain('random', error)
    }
    return Math.random()
  }
}
