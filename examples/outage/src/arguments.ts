export interface Arguments {
  /** Ends by itself after one round, with exit 0 if all that it promises was true. */
  readonly once: boolean
  /** Replays the random choices of a run. */
  readonly seed: number
}

/** @throws Error saying what an argument must be and what it was */
export function readArguments(given: readonly string[], newSeed: () => number): Arguments {
  let [once, seed] = [false, newSeed()]
  const rest = [...given]
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (argument === '--once') once = true
    else if (argument === '--seed') seed = seedOf(rest.shift())
    else throw new Error(`there is no argument ${argument}; there are --once and --seed <whole number>`)
  }
  return { once, seed }
}

function seedOf(text: string | undefined): number {
  const seed = Number(text)
  if (text !== undefined && text !== '' && Number.isSafeInteger(seed) && seed >= 0) return seed
  throw new Error(`--seed must be followed by a whole number, at least 0; got ${text ?? 'nothing'}`)
}
