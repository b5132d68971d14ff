/**
 * Nanoseconds per call of each subject, in one run. Rounds are interleaved, so that
 * what disturbs the machine disturbs all alike; the first rounds warm up and are dropped.
 *
 * @param {Record<string, () => unknown>} subjects what to call; a promise is awaited, a rejection swallowed
 * @returns {Promise<Record<string, { median: number, low: number, high: number }>>} quartiles beside the median
 */
export async function measure(subjects, { rounds, calls, warmUp = 3 }) {
  const samples = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]))
  for (let round = -warmUp; round < rounds; round++) {
    // To and fro, so that none always pays for the garbage of the same one before it.
    const order = Object.entries(subjects)
    for (const [name, subject] of round % 2 === 0 ? order : order.reverse()) {
      const start = process.hrtime.bigint()
      for (let call = 0; call < calls; call++) {
        try {
          await subject()
        } catch {}
      }
      const perCall = Number(process.hrtime.bigint() - start) / calls
      if (round >= 0) samples[name].push(perCall)
    }
  }
  return Object.fromEntries(Object.entries(samples).map(([name, all]) => [name, quartiles(all)]))
}

function quartiles(samples) {
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))]
  return { median: at(0.5), low: at(0.25), high: at(0.75) }
}

/** Bytes of heap in use, after what can be collected has been. */
export function heapUsed() {
  for (let pass = 0; pass < 4; pass++) globalThis.gc()
  return process.memoryUsage().heapUsed
}
