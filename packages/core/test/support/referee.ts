import type { CircuitSnapshot, RecordAnswer, SwapAnswer, Terms } from '@tidegate/core'
import type { Method } from './wayward-store'

interface Probe {
  readonly until: number
  readonly instance: number
  isRunning: boolean
}

interface Outcome {
  readonly at: number
  readonly atStore: number
  readonly isFailure: boolean
}

export interface Limits {
  /** How long an outcome may go on counting after it came, in ms. */
  readonly memoryMs: number
}

/**
 * Keeps books of its own on what the store executed and what the calls came to,
 * and says what must not have been.
 */
export class Referee {
  readonly violations: string[] = []
  readonly #now: () => number
  readonly #storeNow: () => number
  readonly #limits: Limits
  /** The periods that were seen to be left, each by one swap. */
  readonly #left = new Map<string, string>()
  readonly #periods = new Map<string, { readonly snapshot: CircuitSnapshot; readonly since: number }>()
  readonly #probes = new Map<string, Probe>()
  /** When calls of a period succeeded or failed; those of no shared period under ''. */
  readonly #outcomes = new Map<string, Outcome[]>()
  /** Instances that hold their store to be away. What they record, they offer as evidence of that time. */
  absent = 0
  #toldAt = Number.NEGATIVE_INFINITY
  verdicts = 0
  probes = 0
  counted = 0

  constructor(now: () => number, storeNow: () => number, limits: Limits) {
    this.#now = now
    this.#storeNow = storeNow
    this.#limits = limits
  }

  readonly witness = (method: Method, args: readonly unknown[], answer: unknown): void => {
    if (method === 'readState') this.#see(answer as CircuitSnapshot)
    else if (method === 'record') this.#seeRecord(answer as RecordAnswer)
    else this.#seeSwap(args, answer as SwapAnswer)
  }

  probe(instance: number, fence: string, until: number): void {
    if (this.#probes.has(fence)) this.violate(`two probes under ${fence}`)
    this.#probes.set(fence, { until, instance, isRunning: false })
  }

  isProbe(fence: string): boolean {
    return this.#probes.has(fence)
  }

  startProbe(fence: string): void {
    const own = this.#probes.get(fence)
    if (own === undefined || !isShared(fence)) return
    this.probes++
    const live = [...this.#probes].filter(
      ([other, { isRunning, until }]) => isShared(other) && isRunning && this.#storeNow() < until,
    )
    for (const [other, { instance }] of live) {
      this.violate(`two live permits: ${fence} of ${own.instance}, ${other} of ${instance}`)
    }
    own.isRunning = true
  }

  endProbe(fence: string): void {
    const probe = this.#probes.get(fence)
    if (probe !== undefined) probe.isRunning = false
  }

  /** A call that was no probe has come to something. */
  outcome(fence: string, isFailure: boolean): void {
    const period = isShared(fence) ? fence : ''
    const outcomes = this.#outcomes.get(period) ?? []
    outcomes.push({ at: this.#now(), atStore: this.#storeNow(), isFailure })
    this.#outcomes.set(period, outcomes)
  }

  /** The circuit was taken away, or an operator moved it: whoever probed has no permit any more. */
  voidPermits(): void {
    for (const probe of this.#probes.values()) probe.isRunning = false
  }

  violate(what: string): void {
    this.violations.push(`${this.#now()}: ${what}`)
  }

  #see(snapshot: CircuitSnapshot): void {
    if (!this.#periods.has(snapshot.fence)) {
      this.#periods.set(snapshot.fence, { snapshot, since: this.#now() })
    }
  }

  #seeSwap([, from, to, fence, terms]: readonly unknown[], { ok, snapshot }: SwapAnswer): void {
    const isNew = !this.#periods.has(snapshot.fence)
    this.#see(snapshot)
    if (!ok || !isNew) return
    const before = this.#left.get(fence as string)
    if (before !== undefined) this.violate(`${fence} was left twice: for ${before} and ${snapshot.fence}`)
    this.#left.set(fence as string, snapshot.fence)
    const { owner, yield: yields } = terms as Terms
    if (to === 'closed' || to === 'isolated') this.voidPermits()
    if (owner === undefined || from !== 'half-open' || (to === 'half-open' && yields !== true)) return
    this.verdicts++
    const probe = this.#periods.get(fence as string)?.snapshot.probe
    if (probe?.owner !== owner) this.violate(`a verdict of ${owner} under the permit of ${probe?.owner}`)
    if (probe !== undefined && snapshot.now > probe.until) {
      this.violate(`a verdict under ${fence} landed ${snapshot.now - probe.until} ms after its lease`)
    }
  }

  #seeRecord({ snapshot, counters }: RecordAnswer): void {
    this.#see(snapshot)
    this.counted++
    const since = this.#periods.get(snapshot.fence)?.since ?? 0
    // What an instance saw while it had no store is evidence of the period that it had seen last.
    const alone = (this.#outcomes.get('') ?? []).filter(({ at }) => at >= since)
    const all = [...(this.#outcomes.get(snapshot.fence) ?? []), ...alone]
    // What was seen during an outage is told after it, if it is not older than the window then.
    if (this.absent > 0) this.#toldAt = this.#now()
    const isReunion = this.#now() - this.#toldAt <= this.#limits.memoryMs
    const memory = this.#limits.memoryMs * (isReunion ? 2 : 1)
    // A store whose clock was set forgets by its own time, and an instance by its own.
    const fresh = all.filter(
      ({ at, atStore }) => this.#now() - at <= memory || this.#storeNow() - atStore <= memory,
    )
    const failures = fresh.filter(({ isFailure }) => isFailure).length
    const successes = fresh.length - failures
    if (counters.failures > failures || counters.successes > successes) {
      this.violate(
        `counted ${counters.successes}+${counters.failures} under ${snapshot.fence}, came ${successes}+${failures} of ${all.length}`,
      )
    }
  }
}

export function isShared(fence: string): boolean {
  return /^\d{16}\./.test(fence)
}
