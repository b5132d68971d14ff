import { type CircuitSnapshot, type CircuitState, SWAPS, type Tally, type Terms } from '@tidegate/contract'
import { ConformanceError, matches, same, sameMoment } from './assertion'

/**
 * What the contract says of one circuit whose commands are answered one after
 * another, within the window: small, slow to change, and kept beside the store.
 * It takes the time from the answers, so that it knows no clock of its own.
 */
export class Model {
  state: CircuitState = 'closed'
  fence = ''
  readonly fences: string[] = []
  #now = 0
  #openedAt: number | undefined
  #probeAfter: number | undefined
  #probe: { owner: string; until: number } | undefined
  #trips = 0
  #probeSuccesses = 0
  #failures = 0
  #run = 0

  constructor(created: CircuitSnapshot) {
    this.create(created)
  }

  /** A moment that has passed, by the clock of the store. */
  get past(): number {
    return this.#now - 5
  }

  get owner(): string | undefined {
    return this.#probe?.owner
  }

  /** Whether a swap lands; 'either' where the answer's moment is too close to the limit to tell. */
  allows(
    from: CircuitState,
    to: CircuitState,
    fence: string,
    terms: Partial<Terms>,
    now: number,
  ): boolean | 'either' {
    if (terms.deadline !== undefined && terms.deadline < now) return false
    if (from !== this.state || fence !== this.fence || !SWAPS[from].includes(to)) return false
    if (to !== 'half-open') return true
    if (from === 'open') return isReached(this.#probeAfter, now)
    if (terms.yield) return this.#probe !== undefined && this.#probe.owner === terms.owner
    return this.#probe === undefined ? true : isReached(this.#probe.until, now)
  }

  /** Follows the end of the circuit, whatever ended it: another one begins, with nothing of the one before. */
  create(created: CircuitSnapshot): void {
    this.#rise(created.fence)
    this.state = 'closed'
    this.#openedAt = undefined
    this.#probeAfter = undefined
    this.#probe = undefined
    this.#trips = 0
    this.#probeSuccesses = 0
    this.#failures = 0
    this.#run = 0
    this.check(created)
  }

  /** Follows a swap that landed, and checks that the answer tells of nothing else. */
  land(to: CircuitState, terms: Terms, snapshot: CircuitSnapshot): void {
    this.#rise(snapshot.fence)
    if (to === 'open') {
      this.#openedAt = snapshot.now
      this.#probeAfter = snapshot.now + terms.cooldownMs
      this.#trips++
    } else if (to !== 'half-open') {
      this.#openedAt = undefined
      this.#probeAfter = undefined
    }
    if (to !== 'half-open' || this.state === 'open') this.#probeSuccesses = 0
    if (to === 'half-open' && terms.yield && terms.succeeded) this.#probeSuccesses++
    const takes = to === 'half-open' && !terms.yield
    this.#probe = takes ? { owner: terms.owner as string, until: snapshot.now + terms.leaseMs } : undefined
    this.state = to
    this.#failures = 0
    this.#run = 0
    this.check(snapshot)
  }

  count(tally: Tally): void {
    this.#failures += tally.failures
    this.#run = tally.successes === 0 ? this.#run + tally.failures : tally.trailingFailures
  }

  /** What a snapshot must show. */
  check(snapshot: CircuitSnapshot): void {
    const { state, fence } = this
    this.#now = snapshot.now
    matches(
      snapshot,
      { state, fence, trips: this.#trips, probeSuccesses: this.#probeSuccesses },
      'the circuit',
    )
    same(snapshot.probe?.owner, this.#probe?.owner, 'the owner of the permit')
    if (this.#probe) sameMoment(snapshot.probe?.until, this.#probe.until, 'the lease of the permit')
    if (this.#openedAt !== undefined) sameMoment(snapshot.openedAt, this.#openedAt, 'openedAt')
    if (this.#probeAfter !== undefined) sameMoment(snapshot.probeAfter, this.#probeAfter, 'probeAfter')
  }

  checkCounters(counters: { failures: number; consecutiveFailures: number }, hasTime: boolean): void {
    same(counters.consecutiveFailures, this.#run, 'the consecutive failures')
    if (hasTime) same(counters.failures, this.#failures, 'the failures')
  }

  #rise(fence: string): void {
    const last = this.fences.at(-1) ?? ''
    if (!(fence > last)) throw new ConformanceError('the new fence', `one after ${last}`, fence)
    this.fences.push(fence)
    this.fence = fence
  }
}

function isReached(moment: number | undefined, now: number): boolean | 'either' {
  if (moment === undefined) return true
  return Math.abs(now - moment) <= 1 ? 'either' : now > moment
}
