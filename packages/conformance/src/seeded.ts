import { ConformanceError } from './assertion'
import type { Bench } from './bench'
import { Random } from './random'

/** A case that draws at random, and names its seed where it fails. */
export async function seeded(bench: Bench, run: (random: Random) => Promise<void>): Promise<void> {
  try {
    await run(new Random(bench.seed))
  } catch (error) {
    if (error instanceof ConformanceError) {
      error.message += ` (seed ${bench.seed}; replay it with the harness' option seed)`
    }
    throw error
  }
}
