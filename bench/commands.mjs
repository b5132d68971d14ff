import { circuitBreaker, memoryStore } from '@tidegate/core'

const METHODS = ['readState', 'compareAndSet', 'record']

/** Commands a store is sent per second of calls, and per call, healthy and rejected. */
export async function commands({ calls }) {
  let sent = 0
  const inner = memoryStore()
  const circuits = Object.fromEntries(
    METHODS.map((method) => [
      method,
      (...args) => {
        sent++
        return inner.circuits[method](...args)
      },
    ]),
  )
  const store = { ...inner, circuits: { ...circuits, forget: (name) => inner.circuits.forget(name) } }
  const breaker = circuitBreaker({ name: 'counted', store })
  const run = async () => {
    const [before, start] = [sent, performance.now()]
    for (let call = 0; call < calls; call++) await breaker.execute(async () => 1).catch(() => {})
    return {
      perCall: (sent - before) / calls,
      perSecond: (1_000 * (sent - before)) / (performance.now() - start),
    }
  }
  const healthy = await run()
  await breaker.isolate()
  return { healthy, rejected: await run() }
}
