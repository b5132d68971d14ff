import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { commands } from './commands.mjs'
import { allocated, measure } from './measure.mjs'
import { memory } from './memory.mjs'
import { composedCalls, peerKinds, singleCalls } from './subjects/composed.mjs'
import { furtherCalls, healthyCalls } from './subjects/healthy.mjs'
import { rejectedCalls } from './subjects/rejected.mjs'

const isQuick = process.argv.includes('--quick')
const only = process.argv.find((argument) => argument.startsWith('--only='))?.slice('--only='.length)
const rounds = isQuick ? 5 : 15
const calls = isQuick ? 20_000 : 100_000
const size = isQuick
  ? { count: 2_000, calls: 100_000, keys: 50_000 }
  : { count: 10_000, calls: 1_000_000, keys: 1_000_000 }

/** @type {string[]} */
const missed = []

function table(title, results, base) {
  console.log(`\n${title}\n`)
  console.log('| | ns per call | quartiles | x |')
  console.log('|---|---:|---:|---:|')
  for (const [name, { median, low, high }] of Object.entries(results)) {
    const ratio = (median / results[base].median).toFixed(2)
    console.log(`| ${name} | ${median.toFixed(0)} | ${low.toFixed(0)} to ${high.toFixed(0)} | ${ratio} |`)
  }
}

function goal(text, value, limit, unit = '') {
  const holds = value <= limit
  if (!holds) missed.push(text)
  console.log(`${holds ? 'ok    ' : 'MISSED'}  ${text}: ${value.toFixed(2)}${unit} (at most ${limit}${unit})`)
}

const parts = {
  async calls() {
    const healthy = await measure(healthyCalls(), { rounds, calls })
    table('A call that succeeds', healthy, 'a bare await')
    table(
      'Tidegate, with more asked of it',
      await measure(furtherCalls(), { rounds, calls }),
      'a 30 s window',
    )
    const ours = healthy['Tidegate, 30 s window'].median
    return () => {
      goal('a healthy call beside SamplingBreaker', ours / healthy['cockatiel, SamplingBreaker'].median, 0.7)
      goal(
        'a healthy call beside ConsecutiveBreaker',
        ours / healthy['cockatiel, ConsecutiveBreaker'].median,
        1,
      )
    }
  },

  async rejections() {
    const rejected = await measure(await rejectedCalls(), { rounds, calls: isQuick ? 5_000 : 20_000 })
    table('A call that is rejected', rejected, 'cockatiel')
    return () =>
      goal('a rejection beside cockatiel', rejected.Tidegate.median / rejected.cockatiel.median, 0.5)
  },

  async composed() {
    const composed = await measure(composedCalls(), { rounds, calls: calls / 4 })
    table('Retry, breaker and timeout around a call that succeeds', composed, 'a bare await')
    const bytes = await allocated(composedCalls(), { rounds, calls: 200 })
    console.log('\n| | heap bytes per call, garbage included |\n|---|---:|')
    for (const [name, count] of Object.entries(bytes)) console.log(`| ${name} | ${count.toFixed(0)} |`)
    const single = await measure(singleCalls(), { rounds, calls: calls / 4 })
    table('Each policy alone', single, 'a bare await')
    const [ours, cockatiels] = ['Tidegate', 'cockatiel'].map((whose) => ({
      three: composed[`${whose}: retry, breaker, timeout`].median,
      four: composed[`${whose}, with a bulkhead`].median,
    }))
    return () => {
      const opossum = composed['opossum, breaker and timeout'].median
      goal('retry, breaker and timeout beside opossum', ours.three / opossum, 1)
      goal('the same with a bulkhead beside opossum', ours.four / opossum, 1)
      goal("the same beside cockatiel's three", ours.three / cockatiels.three, 0.1)
      goal("the same with a bulkhead beside cockatiel's four", ours.four / cockatiels.four, 0.1)
      for (const kind of peerKinds) {
        goal(
          `${kind} alone beside cockatiel's`,
          single[`Tidegate ${kind}`].median / single[`cockatiel ${kind}`].median,
          1,
        )
      }
    }
  },

  async memory() {
    const heap = await memory(size)
    console.log(`
Heap, in bytes, of ${size.count} breakers on one memory store

| | bytes |
|---|---:|
| a breaker as built | ${heap.built.toFixed(0)} |
| a breaker after its first call, its circuit in the store included | ${heap.used.toFixed(0)} |
| of these, the circuit in the store | ${heap.circuit.toFixed(0)} |
| beside them, outside of the heap: its latencies | ${heap.outside.toFixed(0)} |
| a keyed breaker after its first call, its circuit in the store included | ${heap.perKey.toFixed(0)} |
| per further call | ${heap.perCall.toFixed(3)} |`)
    return () => {
      goal('a breaker after its first call, without its circuit', heap.used - heap.circuit, 1_536, ' bytes')
      goal('heap that a call leaves behind', heap.perCall, 0.1, ' bytes')
      goal(`${size.keys} keys beside ${size.count}`, heap.growth, 1.1)
    }
  },

  async commands() {
    const sent = await commands(size)
    console.log(`
Commands sent to the store

| | per second | per call |
|---|---:|---:|
| healthy | ${sent.healthy.perSecond.toFixed(1)} | ${sent.healthy.perCall.toFixed(6)} |
| rejected | ${sent.rejected.perSecond.toFixed(1)} | ${sent.rejected.perCall.toFixed(6)} |`)
    return () => {
      goal('commands per thousand calls, healthy', 1_000 * sent.healthy.perCall, 0.5)
      goal('commands per thousand calls, rejected', 1_000 * sent.rejected.perCall, 0.5)
    }
  },

  /** A circuit in Redis, on a server and a proxy of its own, and with processes of its own. */
  async redis() {
    const file = fileURLToPath(new URL('./redis/index.ts', import.meta.url))
    const args = ['--import', 'tsx', file, ...(isQuick ? ['--quick'] : [])]
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
    // It says itself which of its goals it missed.
    return () => {
      if (status !== 0) missed.push('redis')
    }
  },
}

if (only !== undefined && !Object.hasOwn(parts, only)) {
  throw new Error(`--only takes ${Object.keys(parts).join(', ')}; got ${only}`)
}
console.log(
  `Node.js ${process.version}, ${process.arch}; ${rounds} interleaved rounds, medians of processor time.`,
)
const judgements = []
for (const [name, part] of Object.entries(parts)) {
  if (only === undefined || only === name) judgements.push(await part())
}
console.log()
for (const judge of judgements) judge()
if (missed.length > 0) process.exitCode = 1
