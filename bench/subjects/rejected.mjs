import { circuitBreaker } from '@tidegate/core'
import { ConsecutiveBreaker, handleAll, circuitBreaker as theirs } from 'cockatiel'
import CircuitBreaker from 'opossum'

const work = async () => 1
const fail = async () => {
  throw new Error('down')
}

async function opened(options) {
  const breaker = circuitBreaker({ name: 'down', consecutiveFailures: 1, cooldownMs: 300_000, ...options })
  await breaker.execute(fail).catch(() => {})
  return breaker
}

function stackless() {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  const error = new Error('open')
  Error.stackTraceLimit = limit
  return error
}

/** A call that is not let in, under each of them. */
export async function rejectedCalls() {
  const cockatiel = theirs(handleAll, { halfOpenAfter: 300_000, breaker: new ConsecutiveBreaker(1) })
  await cockatiel.execute(fail).catch(() => {})
  const opossum = new CircuitBreaker(work)
  opossum.open()
  const ours = await opened({})
  const withStack = await opened({ stackTraces: true })
  return {
    'throwing an Error without a stack': async () => {
      throw stackless()
    },
    cockatiel: () => cockatiel.execute(work),
    opossum: () => opossum.fire(),
    Tidegate: () => ours.execute(work),
    'Tidegate, with a stack': () => withStack.execute(work),
  }
}
