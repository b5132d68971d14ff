/**
 * Nanoseconds of processor time per call of each subject, in one run. Processor
 * time and not the clock's, for on a shared machine the clock measures the neighbours
 * (that of the collector's own threads is in it). Rounds are interleaved, so that what
 * disturbs the machine disturbs all alike; the first ones warm up and are dropped.
 *
 * @param {Record<string, () => unknown>} subjects what to call; a promise is awaited, a rejection swallowed
 * @returns {Promise<Record<string, { median: number, low: number, high: number }>>} quartiles beside the median
 */
export async function measure(subjects, { rounds, calls, warmUp = 3 }) {
  const runs = Object.entries(subjects).map(([name, subject]) => ({
    name,
    subject,
    loop: newLoop(),
    samples: [],
  }))
  for (let round = -warmUp; round < rounds; round++) {
    // To and fro, so that none always pays for the garbage of the same one before it.
    for (const { subject, loop, samples } of round % 2 === 0 ? runs : runs.toReversed()) {
      const before = process.cpuUsage()
      await loop(subject, calls)
      const { user, system } = process.cpuUsage(before)
      if (round >= 0) samples.push((1_000 * (user + system)) / calls)
    }
  }
  return Object.fromEntries(runs.map(({ name, samples }) => [name, quartiles(samples)]))
}

/**
 * A loop that only one subject runs through: compiled from its text each time, for one
 * that many share is compiled for none of them, and adds more to a call than some cost.
 */
function newLoop() {
  return new Function(
    'subject',
    'calls',
    'return (async () => { for (let call = 0; call < calls; call++) try { await subject() } catch {} })()',
  )
}

/**
 * Bytes of heap that a call of each subject takes, garbage included: over so few calls that
 * nothing is collected in between, in the median of the rounds.
 *
 * @param {Record<string, () => unknown>} subjects
 * @returns {Promise<Record<string, number>>}
 */
export async function allocated(subjects, { rounds, calls }) {
  const bytes = {}
  for (const [name, subject] of Object.entries(subjects)) {
    const loop = newLoop()
    await loop(subject, 20 * calls)
    const samples = []
    for (let round = 0; round < rounds; round++) {
      const before = heapUsed()
      await loop(subject, calls)
      samples.push((process.memoryUsage().heapUsed - before) / calls)
    }
    bytes[name] = quartiles(samples).median
  }
  return bytes
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

/** Bytes that typed arrays keep outside of that heap: `heapUsed` does not have them. */
export function outsideHeap() {
  return process.memoryUsage().arrayBuffers
}
