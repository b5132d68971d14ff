import { circuitBreaker, memoryStore } from '@tidegate/core'
import { heapUsed, outsideHeap } from './measure.mjs'

const work = async () => 1

/** Kept here, so that nothing measured is collected before it is measured. */
const kept = []

/** Lets what waits for the next exchange be sent, and the window's first bucket be written. */
async function settle() {
  await new Promise((resolve) => setTimeout(resolve, 200))
}

async function perBreaker(count, build, store) {
  const names = Array.from({ length: count }, (_, index) => `dependency ${index}`)
  const before = heapUsed()
  const outside = outsideHeap()
  const breakers = names.map(build)
  kept.push(breakers, store)
  const built = heapUsed()
  for (const breaker of breakers) await breaker.execute(work)
  await settle()
  const used = heapUsed()
  return {
    built: (built - before) / count,
    used: (used - before) / count,
    outside: (outsideHeap() - outside) / count,
  }
}

/** The circuits alone, as the store keeps them, each read and recorded to once. */
async function perCircuit(count) {
  const names = Array.from({ length: count }, (_, index) => `circuit ${index}`)
  const store = memoryStore({ maxKeys: count })
  kept.push(store)
  const terms = { window: { kind: 'time', ms: 30_000 }, cooldownMs: 30_000, leaseMs: 11_000 }
  const tally = { seq: 1, successes: 1, failures: 0, slow: 0, trailingFailures: 0 }
  const before = heapUsed()
  for (const [index, name] of names.entries()) {
    const command = { ...terms, instance: `instance${index}`, nonce: `nonce${index}` }
    const { fence } = store.circuits.readState(name, command)
    store.circuits.record(name, fence, tally, command)
  }
  return (heapUsed() - before) / count
}

/** Heap per breaker, and what calls and keys add to it. */
export async function memory({ count, calls, keys }) {
  const store = memoryStore({ maxKeys: 2 * count })
  const options = { cooldownMs: 30_000, store }
  await perBreaker(1_000, (name) => circuitBreaker({ name: `warm ${name}`, ...options }), store)
  const single = await perBreaker(count, (name) => circuitBreaker({ name, ...options }), store)
  const circuit = await perCircuit(count)

  const one = circuitBreaker({ name: 'one' })
  for (let call = 0; call < calls / 10; call++) await one.execute(work)
  await settle()
  const early = heapUsed()
  for (let call = 0; call < calls; call++) await one.execute(work)
  await settle()
  const perCall = (heapUsed() - early) / calls

  const family = circuitBreaker.keyed({ name: 'host' }, { maxKeys: count })
  kept.push(family)
  const empty = heapUsed()
  for (let key = 0; key < count; key++) await family.for(`first ${key}`).execute(work)
  await settle()
  const full = heapUsed() - empty
  for (let key = 0; key < keys; key++) await family.for(`other ${key}`).execute(work)
  await settle()
  const after = heapUsed() - empty
  return { ...single, circuit, perCall, perKey: full / count, growth: after / full, size: family.size }
}
