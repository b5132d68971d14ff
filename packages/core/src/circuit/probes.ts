import type { MaybePromise } from '@tidegate/contract'
import type { Identity } from '../identity'
import { after, lastly } from '../maybe-promise'
import { type Outcome, type Verdict, verdict, YIELD } from './machine'
import type { Mirror } from './mirror'
import type { CircuitSettings } from './options'

/** The right to run one probe, under the fence that the claim minted. */
export interface Permit {
  readonly fence: string
  readonly mirror: Mirror
  readonly probeSuccesses: number
  /** When the circuit opened that this recovers from, by the store's clock. */
  readonly openedAt: number | undefined
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
  /** Runs what nobody waits for: what it throws is nobody's. */
  inBackground(run: () => MaybePromise<unknown>): MaybePromise<void>
}

/** The probes of one instance: one at a time, each with a permit, and a verdict under that permit's fence. */
export class Probes {
  readonly #settings: CircuitSettings
  readonly #owner: string
  readonly #host: ProbesHost
  #isClaiming = false
  #permit: Permit | undefined
  /** Probes in a row without evidence, in the recovery from the open period that began at `#openedAt`. */
  #withoutEvidence = 0
  #openedAt: number | undefined
  /** The last verdict, until the store has it. */
  #concluding: MaybePromise<void> = undefined

  constructor(settings: CircuitSettings, identity: Identity, host: ProbesHost) {
    this.#settings = settings
    this.#owner = identity.nextOwner()
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
    const owner = this.#owner
    // From before the swap is sent: the store's lease begins after it, so this instance's ends first.
    const sentAt = clock.now()
    this.#isClaiming = true
    const swap = () => mirror.swap(snapshot.state, 'half-open', snapshot.fence, { owner })
    const use = (landed: boolean | undefined): Permit | undefined => {
      const won = mirror.snapshot
      if (landed !== true || won?.probe?.owner !== owner) return undefined
      const { fence, probeSuccesses, openedAt, probe } = won
      const ends = { until: probe.until, endsAt: sentAt + probeTimeoutMs, leaseEndsAt: sentAt + leaseMs }
      const permit = { fence, mirror, probeSuccesses, openedAt, ...ends }
      this.#permit = permit
      if (clock.now() < permit.endsAt && this.#host.isCurrent(mirror)) return permit
      this.giveBack(permit)
      return undefined
    }
    return lastly(
      () => after(swap(), use),
      () => {
        this.#isClaiming = false
      },
    )
  }

  /** Tells the circuit how the probe came out. The permit is given up, whatever becomes of the verdict. */
  conclude(permit: Permit, outcome: Outcome): void {
    const { probeSuccesses, openedAt } = permit
    const withoutEvidence = openedAt === this.#openedAt ? this.#withoutEvidence : 0
    this.#openedAt = openedAt
    this.#withoutEvidence = outcome === 'none' ? withoutEvidence + 1 : 0
    const before = { probeSuccesses, withoutEvidence }
    this.#end(permit, outcome, verdict(outcome, before, this.#settings.successThreshold))
  }

  /** A permit that the store was too late with: no probe was sent, and so none came to nothing. */
  giveBack(permit: Permit): void {
    this.#end(permit, 'none', YIELD)
  }

  #end(permit: Permit, outcome: Outcome, verdict: Verdict): void {
    const tell = (isTaken: boolean | undefined): void => {
      if (isTaken === false && outcome !== 'none') this.#host.onLateVerdict(permit.fence, outcome)
    }
    const giveUp = (): void => {
      if (this.#permit === permit) this.#permit = undefined
    }
    const send = () => lastly(() => this.#sendVerdict(permit, outcome, verdict), giveUp)
    this.#concluding = this.#host.inBackground(() => after(send(), tell))
  }

  /** A permit whose answer came when nobody waited for it any more would cost the fleet a lease. */
  giveBackUnused(mirror: Mirror): void {
    const { probe, fence, probeSuccesses, openedAt } = mirror.snapshot ?? {}
    if (this.isBusy || fence === undefined || probe?.owner !== this.#owner) return
    const { until } = probe
    if (until <= mirror.storeTime(this.#settings.clock.now())) return
    // How long it is this instance's it cannot say any more; the store can.
    const ends = { until, endsAt: 0, leaseEndsAt: Number.POSITIVE_INFINITY }
    this.#permit = { fence, mirror, probeSuccesses: probeSuccesses ?? 0, openedAt, ...ends }
    this.giveBack(this.#permit)
  }

  /** When the last verdict has been answered. */
  concluded(): MaybePromise<void> {
    return this.#concluding
  }

  /** @returns false if it came too late; undefined if nobody knows */
  #sendVerdict(
    permit: Permit,
    outcome: Outcome,
    { to, ...marks }: Verdict,
  ): MaybePromise<boolean | undefined> {
    const { mirror, fence, until } = permit
    if (this.#settings.clock.now() >= permit.leaseEndsAt || !this.#host.isCurrent(mirror)) return false
    if (outcome === 'failure') this.#host.onProbeFailure()
    return mirror.swap('half-open', to, fence, {
      ...marks,
      owner: this.#owner,
      // The permit's end and not this instance's patience: a verdict may take its time, but not come after it.
      deadline: Math.floor(until),
      ...(to === 'open' && { cooldownMs: this.#host.cooldownFor(mirror) }),
    })
  }
}
