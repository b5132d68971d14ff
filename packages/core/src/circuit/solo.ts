import type { CircuitSnapshot, WindowCounters } from '@tidegate/contract'
import { windowSpanMs } from '@tidegate/contract'
import type { Link } from '../store/link'
import { localLink } from '../store/local'
import type { Mirror } from './mirror'
import type { CircuitSettings } from './options'
import { nextTurn } from './spread'

/** What opened this instance's own circuit while the store was away. */
interface Evidence {
  readonly counters: WindowCounters
  /** The period of the fleet's circuit in which the calls were let through. */
  readonly fence: string
  /** When it was last borne out, by a probe that failed. */
  readonly at: number
}

/**
 * The circuit that an instance has to itself: it counts while the store is away,
 * or along with the fleet where it takes several reporters to open the circuit for
 * all. Once it has moved, it decides.
 */
export class Solo {
  mirror: Mirror | undefined
  /** Whether it has moved away from the fleet's circuit, and decides in its place. */
  decides = false
  readonly #settings: CircuitSettings
  readonly #newMirror: (link: Link) => Mirror
  #periods = 0
  #evidence: Evidence | undefined
  /** The period of the fleet's circuit that was the present one when it began to count. */
  #fence = ''
  #spanEndsAt = 0

  constructor(settings: CircuitSettings, newMirror: (link: Link) => Mirror) {
    this.#settings = settings
    this.#newMirror = newMirror
  }

  /**
   * A new circuit, closed and empty. Its store is in this process, and answers at once.
   *
   * @param fence of the fleet's circuit as last seen
   */
  begin(fence: string): Mirror {
    this.end()
    this.#fence = fence
    const mirror = this.#newMirror(localLink(this.#settings.clock, () => ++this.#periods))
    this.mirror = mirror
    void mirror.read()
    return mirror
  }

  end(): void {
    this.mirror = undefined
    this.decides = false
    this.#evidence = undefined
  }

  /** Remembers what opened it, for the fleet to judge when it can be asked again. */
  keepEvidence(counters: WindowCounters): void {
    this.#evidence = { counters, fence: this.#fence, at: this.#settings.clock.now() }
  }

  confirmEvidence(): void {
    if (this.#evidence !== undefined) this.#evidence = { ...this.#evidence, at: this.#settings.clock.now() }
  }

  /** What may count in the fleet's circuit: what is of its present period, and not older than the window. */
  evidenceFor(fleet: CircuitSnapshot | undefined): WindowCounters | undefined {
    const { clock, window } = this.#settings
    const evidence = this.#evidence
    if (evidence === undefined || fleet?.state !== 'closed' || fleet.fence !== evidence.fence)
      return undefined
    const isOpenHere = this.decides && this.mirror?.snapshot?.state !== 'closed'
    return isOpenHere && clock.now() - evidence.at < windowSpanMs(window) ? evidence.counters : undefined
  }

  /**
   * How long until this instance probes while nobody can agree on a prober, in
   * whole ms. The cooldown does not grow meanwhile: what grows is the outage of the
   * store, which says nothing about the dependency.
   *
   * @param fleet instances, as last reported
   */
  cooldownAlone(fleet: number): number {
    const { clock, random, cooldown, whenStoreDown } = this.#settings
    if (whenStoreDown !== 'spread') return cooldown.cooldownMs
    const now = clock.now()
    const turn = nextTurn(now, Math.max(this.#spanEndsAt, now), fleet, cooldown.cooldownMs, random())
    this.#spanEndsAt = turn.spanEndsAt
    return Math.ceil(turn.probeAt - now)
  }
}
