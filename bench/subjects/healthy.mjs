import { circuitBreaker, memoryStore } from '@tidegate/core'
import { ConsecutiveBreaker, handleAll, SamplingBreaker, circuitBreaker as theirs } from 'cockatiel'
import CircuitBreaker from 'opossum'
import { breakerByHand } from './by-hand.mjs'

const work = async () => 1

/** A store as far away as a promise: what a network adds beside its time. */
function asynchronous(store) {
  const { circuits } = store
  return {
    ...store,
    circuits: {
      readState: async (...args) => circuits.readState(...args),
      compareAndSet: async (...args) => circuits.compareAndSet(...args),
      record: async (...args) => circuits.record(...args),
      forget: async (name) => circuits.forget(name),
    },
  }
}

/** A call that succeeds at once, under each of them: one kind of call each, for code that sees many is slower. */
export function healthyCalls() {
  const cockatiel = (breaker) => theirs(handleAll, { halfOpenAfter: 30_000, breaker })
  const byHand = breakerByHand()
  const sampling = cockatiel(new SamplingBreaker({ threshold: 0.5, duration: 30_000, minimumRps: 1 }))
  const consecutive = cockatiel(new ConsecutiveBreaker(5))
  const opossum = new CircuitBreaker(work, { timeout: false })
  const opossumTimed = new CircuitBreaker(work)
  const ours = circuitBreaker({ name: 'time' })
  // Every call is timed: what one costs where there are few of them, or `slowCallMs` is set.
  const timed = circuitBreaker({ name: 'timed', slowCallMs: 1_000 })
  return {
    'a bare await': work,
    'ten buckets by hand': () => byHand.execute(work),
    'cockatiel, ConsecutiveBreaker': () => consecutive.execute(work),
    'cockatiel, SamplingBreaker': () => sampling.execute(work),
    'opossum, no timeout': () => opossum.fire(),
    opossum: () => opossumTimed.fire(),
    'Tidegate, 30 s window': () => ours.execute(work),
    'Tidegate, 30 s window, every call timed': () => timed.execute(work),
  }
}

/** The same call under Tidegate, with more asked of it. */
export function furtherCalls() {
  const ours = circuitBreaker({ name: 'time' })
  const inARow = circuitBreaker({ name: 'consecutive', consecutiveFailures: 5 })
  const remote = circuitBreaker({ name: 'remote', store: asynchronous(memoryStore()) })
  const heard = circuitBreaker({ name: 'heard' })
  heard.on('success', () => {})
  const { signal } = new AbortController()
  return {
    'a 30 s window': () => ours.execute(work),
    'failures in a row': () => inARow.execute(work),
    'a store that answers later': () => remote.execute(work),
    'every call heard': () => heard.execute(work),
    'a signal that all callers share': () => ours.execute(work, { signal }),
    'a signal of its own for each caller': () => ours.execute(work, { signal: new AbortController().signal }),
    'a function that reads its signal': () => ours.execute(async (context) => context.signal.aborted),
  }
}
