import type { MaybePromise } from '@tidegate/contract'
import type { Identity } from '../identity'
import { after } from '../maybe-promise'
import { type Outcome, verdict } from './machine'
import type { Mirror } from './mirror'
import type { CircuitSettings } from './options'

/** The right to run one probe, under the fence that the claim minted. */
export interface Permit {
  readonly fence: string
  readonly mirror: Mirror
  readonly probeSuccesses: number
  /** When the lease runs out, by the store's clock. */
  readonly until: number
  /** When the probe is aborted, and when the permit is nobody's any more, by this instance's clock. */
  readonly endsAt: number
  readonly leaseEndsAt: number
}

/** Whose probes they are. */
export interface ProbesHost {
  /** Whether a mirror still shows a circuit that somebody decides on. */
  isCurrent(mirror: Mirror): boolean
  /** How long the circuit is to stay open, should it open again. */
  cooldownFor(mirror: Mirror): number
  /** A probe failed, and its verdict is on its way. */
  onProbeFailure(): void
  /** A verdict came too late, and changed nothing. */
  onLateVerdict(fence: string, outcome: 'success' | 'failure'): void
}

/** The probes of one instance: one at a time, each with a permit, and a verdict under that permit's fence. */
export class Probes {
  readonly #settings: CircuitSettings
  readonly #identity: Identity
  readonly #host: ProbesHost
  #isClaiming = false
  #permit: Permit | undefined
  /** The last verdict, until the store has it. */
  #concluding: MaybePromise<void> = undefined

  constructor(settings: CircuitSettings, identity: Identity, host: ProbesHost) {
    this.#settings = settings
    this.#identity = identity
    this.#host = host
  }

  /** Whether a caller of this instance has the permit, or is asking for it. */
  get isBusy(): boolean {
    return this.#isClaiming || this.#permit !== undefined
  }

  /** Tries to take the permit. */
  claim(mirror: Mirror): MaybePromise<Permit | undefined> {
    const { snapshot } = mirror
    if (snapshot === undefined) return undefined
    const { clock, probeTimeoutMs, leaseMs } = this.#settings
    const owner = this.#identity.instance
    // From before the swap is sent: the store's lease begins after it, so this instance's ends first.
    const sentAt = clock.now()
    this.#isClaiming = true
    return after(mirror.swap(snapshot.state, 'half-open', snapshot.fence, { owner }), (landed) => {
      this.#isClaiming = false
      const won = mirror.snapshot
      if (landed !== true || won?.probe?.owner !== owner) return undefined
      const { fence, probeSuccesses, probe } = won
      const ends = { until: probe.until, endsAt: sentAt + probeTimeoutMs, leaseEndsAt: sentAt + leaseMs }
      const permit = { fence, mirror, probeSuccesses, ...ends }
      this.#permit = permit
      if (clock.now() < permit.endsAt && this.#host.isCurrent(mirror)) return permit
      this.conclude(permit, 'none')
      return undefined
    })
  }

  /** Tells the circuit how the probe came out. The permit is given up, whatever becomes of the verdict. */
  conclude(permit: Permit, outcome: Outcome): void {
    this.#concluding = after(this.#sendVerdict(permit, outcome), (isTaken) => {
      if (this.#permit === permit) this.#permit = undefined
      if (isTaken === false && outcome !== 'none') this.#host.onLateVerdict(permit.fence, outcome)
    })
  }

  /** A permit whose answer came when nobody waited for it any more would cost the fleet a lease. */
  giveBackUnused(mirror: Mirror): void {
    const { probe, fence, probeSuccesses } = mirror.snapshot ?? {}
    if (this.isBusy || fence === undefined || probe?.owner !== this.#identity.instance) return
    const { until } = probe
    if (until <= mirror.storeTime(this.#settings.clock.now())) return
    // How long it is this instance's it cannot say any more; the store can.
    const ends = { until, endsAt: 0, leaseEndsAt: Number.POSITIVE_INFINITY }
    this.#permit = { fence, mirror, probeSuccesses: probeSuccesses ?? 0, ...ends }
    this.conclude(this.#permit, 'none')
  }

  /** When the last verdict has been answered. */
  concluded(): MaybePromise<void> {
    return this.#concluding
  }

  /** @returns false if it came too late; undefined if nobody knows */
  #sendVerdict(permit: Permit, outcome: Outcome): MaybePromise<boolean | undefined> {
    const { clock, successThreshold } = this.#settings
    const { mirror, fence, until } = permit
    if (clock.now() >= permit.leaseEndsAt || !this.#host.isCurrent(mirror)) return false
    const { to, ...marks } = verdict(outcome, permit, successThreshold)
    if (to === 'open') this.#host.onProbeFailure()
    return mirror.swap('half-open', to, fence, {
      ...marks,
      owner: this.#identity.instance,
      // The permit's end and not this instance's patience: a verdict may take its time, but not come after it.
      deadline: Math.floor(until),
      ...(to === 'open' && { cooldownMs: this.#host.cooldownFor(mirror) }),
    })
  }
}
