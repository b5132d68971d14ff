import type {
  CircuitSnapshot,
  CircuitState,
  MaybePromise,
  Unsubscribe,
  WindowCounters,
} from '@tidegate/contract'
import { fenceNonce, fleetSpanMs } from '@tidegate/contract'
import type { Emitter } from '../events'
import type { Identity } from '../identity'
import { after, isThenable, lastly } from '../maybe-promise'
import { awaitBeat, type Beating } from '../pulse'
import { Guard, type GuardHost } from '../store/guard'
import type { Link } from '../store/link'
import type { CircuitEvents } from './events'
import { type Admission, admission, cooldownMsFor, isTripNear, isTripped, type Outcome } from './machine'
import { Mirror, type MirrorHost } from './mirror'
import type { CircuitSettings } from './options'
import { type Permit, Probes, type ProbesHost } from './probes'
import { Ramp } from './ramp'
import { Solo } from './solo'
import { subscribe } from './subscription'
import { type Command, type Reach, Switches } from './switches'
import { NO_COUNTERS, withTally } from './tally'

/** Exchanges in one `syncMs` at most while a trip is near. */
const PRESSED_EXCHANGES = 25

/** What a call was let in with. */
export interface Ticket {
  readonly fence: string
  readonly permit?: Permit
}

/** Why a call was not let in, as far as its caller may be told. */
export interface Refusal {
  readonly state: CircuitState
  readonly retryAfterMs: number | undefined
}

/**
 * A circuit as one instance lives with it: the fleet's, seen in a mirror, and one
 * of its own for when the fleet cannot be asked. Both run the same machine; which
 * of them decides, and which counts, is settled in one place, `#arrange`.
 */
export class Circuit implements Beating, GuardHost, MirrorHost, ProbesHost {
  readonly name: string
  state: CircuitState = 'closed'
  /** The period that is now. An outcome of any other is late. */
  fence = ''
  /** The fence, while calls pass without a thought; undefined while they take one. */
  gate: string | undefined
  /** The last of the fleet's periods that this instance is known to have begun. */
  #begun = ''

  readonly #settings: CircuitSettings
  readonly #events: Emitter<CircuitEvents>
  readonly #identity: Identity
  readonly #guard: Guard
  readonly #shared: Mirror
  /** Made when this instance first stands alone; most never do. */
  #solo: Solo | undefined
  /** Made with the first claim. */
  #probes: Probes | undefined
  /** Made when the circuit first closes into one. */
  #ramp: Ramp | undefined
  /** Made with the first switch. */
  #switches: Switches | undefined
  /** Where outcomes are counted. */
  #ledger: Mirror
  /** Whether the store is away. */
  #isAway = false
  #isCheckingIn = false
  /** Whether the store is back, and what is to be told it before its state is taken up is on its way. */
  #isReturning = false
  #isAwaitingBeat = false
  /** Whether the next exchange is not to wait for its turn. */
  #isPressed = false
  #unsubscribe: Unsubscribe | undefined

  constructor(name: string, settings: CircuitSettings, events: Emitter<CircuitEvents>, identity: Identity) {
    this.name = name
    this.#settings = settings
    this.#events = events
    this.#identity = identity
    const { store } = settings
    this.#guard = new Guard(store, settings, this)
    this.#shared = this.#newMirror(this.#guard)
    this.#ledger = this.#shared
  }

  /** The outcomes in the window, those included that the store has not seen yet. */
  get counters(): WindowCounters {
    const { window, clock } = this.#settings
    const { counters, tally, knownAt } = this.#ledger
    const isPast = window.kind === 'time' && clock.now() - knownAt >= window.ms
    return withTally(isPast ? NO_COUNTERS : counters, tally)
  }

  /** Outcomes that the store has not been told of. */
  get unsent(): number {
    const { tally } = this.#ledger
    return tally.successes + tally.failures
  }

  get snapshot(): CircuitSnapshot | undefined {
    return this.#deciding.snapshot
  }

  // ── A call comes ──────────────────────────────────────────────────────────

  /** Lets a call in, with a permit if it is to be the probe, or says why not. */
  admit(): MaybePromise<Ticket | Refusal> {
    const { clock, isStrict, storeTimeoutMs } = this.#settings
    const now = clock.now()
    if (this.#isAway || (!isStrict && !this.isOutdated(now))) {
      this.touch(now)
      return this.#admit(now)
    }
    this.#listen()
    // Nor do calls pass that would not look at the clock, until the store has answered.
    this.gate = undefined
    // The first calls after a silence wait for one read together; strict ones each for one of their own.
    const read = isStrict ? this.#shared.read() : this.#shared.refresh()
    return after(read, () => this.#admit(clock.now(), now + storeTimeoutMs))
  }

  /** Whether so little is known of the fleet, or was heard so long ago, that a call waits to hear it. */
  isOutdated(now: number): boolean {
    if (this.#isAway) return false
    const { snapshot, knownAt } = this.#shared
    return snapshot === undefined || now - knownAt >= fleetSpanMs(this.#settings.window)
  }

  /** What `admit` would say, as far as it can be said without asking and without taking a permit. */
  preview(): Refusal | undefined {
    const now = this.#settings.clock.now()
    this.touch(now)
    const { go, retryAfterMs } = { retryAfterMs: undefined, ...this.#admission(now) }
    return go === 'reject' || (go === 'claim' && !this.#mayClaim()) ? this.#refusal(retryAfterMs) : undefined
  }

  /** Somebody came by: what is known of the fleet is refreshed in the background, if that is due. */
  touch(now: number): void {
    if (now - this.#shared.askedAt >= this.#settings.syncMs) this.#syncInBackground()
  }

  #admission(now: number): Admission {
    const { snapshot } = this.#deciding
    if (this.#switches?.isolates === true) return { go: 'reject', retryAfterMs: undefined }
    return snapshot === undefined ? { go: 'pass' } : admission(snapshot, this.#deciding.storeTime(now))
  }

  /** @param waitUntil how long the call may wait for the store yet, if it has waited before */
  #admit(now: number, waitUntil?: number, mayClaim = true): MaybePromise<Ticket | Refusal> {
    const may = this.#admission(now)
    if (may.go === 'pass') return this.#rampRefusal(now) ?? { fence: this.fence }
    if (may.go === 'reject') return this.#refusal(may.retryAfterMs)
    if (!mayClaim || !this.#mayClaim()) return this.#refusal(undefined)
    const claim = this.#claim()
    const settle = (permit: Permit | undefined): MaybePromise<Ticket | Refusal> => {
      // A claim that lost has brought the state that beat it: it may be closed by now.
      if (permit === undefined) return this.#admit(this.#settings.clock.now(), undefined, false)
      return { fence: permit.fence, permit }
    }
    if (waitUntil === undefined || !isThenable(claim)) return after(claim, settle)
    return this.#wait(claim as Promise<Permit | undefined>, waitUntil - now, settle)
  }

  /** A call waits for the store once: what its read took, its claim does not get. */
  #wait(
    claim: Promise<Permit | undefined>,
    leftMs: number,
    settle: (permit: Permit | undefined) => MaybePromise<Ticket | Refusal>,
  ): Promise<Ticket | Refusal> {
    return new Promise((resolve) => {
      let isOver = false
      const giveUp = (): void => {
        isOver = true
        resolve(this.#refusal(undefined))
      }
      const cancel = this.#settings.clock.setTimeout(giveUp, leftMs, true)
      void claim.then((permit) => {
        cancel()
        if (!isOver) resolve(settle(permit))
        else if (permit !== undefined) this.#probes?.giveBack(permit)
      })
    })
  }

  #refusal(retryAfterMs: number | undefined): Refusal {
    const wholeMs = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs)
    return { state: this.state, retryAfterMs: wholeMs }
  }

  #rampRefusal(now: number): Refusal | undefined {
    if (this.#ramp?.isOn !== true) return undefined
    const left = this.#ramp.leftMs(now)
    if (left === 0) {
      this.#ramp.end()
      this.#arrange(NO_COUNTERS)
    }
    return this.#ramp.admits(now, this.#settings.random()) ? undefined : this.#refusal(left)
  }

  // ── A call settled ────────────────────────────────────────────────────────

  /**
   * Counts a success of which nothing else is known: the shortest way there is.
   *
   * @returns false if it takes the longer one
   */
  countHealthy(fence: string): boolean {
    if (fence !== this.fence || !this.#isAwaitingBeat) return false
    this.#ledger.tally.successes++
    this.#ledger.tally.trailingFailures = 0
    return true
  }

  /**
   * Counts an outcome of the period `fence`.
   *
   * @param now by the clock, or anything below 0 for a call that did not look at it
   * @returns false if that period is over, and the outcome with it
   */
  count(fence: string, isFailure: boolean, isSlow: boolean, now: number): boolean {
    if (fence !== this.fence) return false
    const { syncMs, minReporters } = this.#settings
    const ledger = this.#ledger
    const { tally } = ledger
    if (now >= 0) ledger.forgetOutdated(now)
    const at = now >= 0 ? now : this.#settings.clock.now()
    tally.add(isFailure, isSlow, at)
    if (minReporters > 1 && ledger === this.#shared) {
      const own = this.#own ?? this.#beginAlone()
      own.tally.add(isFailure, isSlow, at)
    }
    // Without the time nothing is due but by the pulse; a call that knows it comes along often enough.
    const isDue = now - ledger.exchangedAt >= syncMs
    if (isDue || ((isFailure || isSlow) && this.#isUrgent())) this.#syncInBackground()
    else if (!this.#isAwaitingBeat) this.#awaitBeat()
    return true
  }

  /** Whether the store is to be told at once, for what is known here trips the circuit; presses on if it nearly does. */
  #isUrgent(): boolean {
    const { counters, tally, snapshot, exchangedAt } = this.#ledger
    const { trip, clock, syncMs } = this.#settings
    if (isTripped(withTally(counters, tally), trip)) return true
    const fleet = snapshot?.fleet ?? 1
    if (this.#isPressed || fleet === 1) return false
    if (!isTripNear(counters, tally, fleet, trip)) return false
    if (clock.now() - exchangedAt >= syncMs / PRESSED_EXCHANGES) return true
    this.#isPressed = true
    this.#awaitBeat()
    return false
  }

  /** Tells the circuit how a probe came out. */
  conclude(permit: Permit, outcome: Outcome): void {
    this.#probes?.conclude(permit, outcome)
  }

  /** Sends what has come together and hears how things are. A store that is away is not waited for. */
  sync(): MaybePromise<void> {
    const own = this.#own
    if (own !== undefined && !own.tally.isEmpty) void own.sync()
    if (this.#isAway) return this.#checkIn()
    this.#listen()
    this.#isPressed = false
    if (this.#shared.isSyncing) return this.#shared.sync()
    const exchange = lastly(
      () => this.#shared.sync(),
      () => this.#awaitRest(),
    )
    return after(exchange, () => this.#followUp())
  }

  #syncInBackground(): void {
    this.inBackground(() => this.sync())
  }

  inBackground(run: () => MaybePromise<unknown>): MaybePromise<void> {
    const complain = (error: unknown): void =>
      this.#events.complain(`what "${this.name}" does in the background`, error)
    try {
      const running = run()
      if (isThenable(running)) return (running as Promise<unknown>).then(nothing, complain)
    } catch (error) {
      complain(error)
    }
  }

  /** Sends what has come together, and waits for what is on its way. */
  flush(): MaybePromise<void> {
    const sendRest = (): MaybePromise<void> => (this.#ledger.tally.isEmpty ? undefined : this.sync())
    // What came while an exchange was on its way did not go with it.
    const sent = this.#shared.isSyncing ? after(this.#shared.sync(), sendRest) : sendRest()
    return after(sent, () => this.#probes?.concluded())
  }

  /** What came while an exchange was on its way goes with the next one, whatever became of this. */
  #awaitRest(): void {
    if (!this.#ledger.tally.isEmpty && !this.#isAwaitingBeat) this.#awaitBeat()
  }

  /** It may be what the next one must not wait for. */
  #followUp(): MaybePromise<void> {
    if (!this.#isAway && this.#ledger.tally.trailingFailures > 0 && this.#isUrgent()) return this.sync()
  }

  // ── The circuit is moved ──────────────────────────────────────────────────

  onMirrorCounters(mirror: Mirror): MaybePromise<unknown> {
    const { snapshot, counters } = mirror
    const { trip, minReporters } = this.#settings
    if (!this.isCurrent(mirror) || snapshot?.state !== 'closed' || !isTripped(counters, trip)) return
    if (mirror === this.#own) {
      // What was counted along with the fleet, the fleet has.
      if (this.#isAway) this.#solo?.keepEvidence(counters)
      return this.#openAlone(mirror)
    }
    // A store that checks in is not back yet; the counters are looked at again when it is.
    if (this.#isAway || (minReporters > 1 && counters.reporters < minReporters)) return
    const cooldownMs = this.cooldownFor(mirror)
    return after(mirror.swap('closed', 'open', snapshot.fence, { cooldownMs }), (landed) => {
      // The fleet had seen enough, and could not be told so: this instance has seen it too.
      const own = this.#own
      const mustKnow = landed === undefined && own !== undefined && !this.#isAlone
      return mustKnow ? this.#openAlone(own) : undefined
    })
  }

  #openAlone(own: Mirror, least = 1): MaybePromise<unknown> {
    if (this.#solo !== undefined) this.#solo.decides = true
    const cooldownMs = Math.max(least, this.cooldownFor(own))
    return own.swap('closed', 'open', own.snapshot?.fence ?? '', { cooldownMs })
  }

  cooldownFor(mirror: Mirror): number {
    const { cooldown, random } = this.#settings
    return this.#isAway && mirror !== this.#shared
      ? (this.#solo?.cooldownAlone(this.#shared.snapshot?.fleet ?? 1) ?? cooldown.cooldownMs)
      : cooldownMsFor(cooldown, mirror.snapshot?.trips ?? 0, random())
  }

  /** One caller an instance tries; and with the store away and `hold`, none. */
  #mayClaim(): boolean {
    const isHeld = (this.#isAway || this.#isReturning) && this.#settings.whenStoreDown === 'hold'
    return this.#probes?.isBusy !== true && !isHeld
  }

  #claim(): MaybePromise<Permit | undefined> {
    this.#probes ??= new Probes(this.#settings, this.#identity, this)
    return this.#probes.claim(this.#deciding)
  }

  onProbeFailure(): void {
    this.#solo?.confirmEvidence()
  }

  onLateVerdict(fence: string, outcome: 'success' | 'failure'): void {
    this.#events.emit('late', { fence, outcome })
  }

  #switch(command: Command): MaybePromise<Reach> {
    this.#switches ??= new Switches()
    this.#switches.add(command)
    return after(this.#carryOut(), (reach) => {
      if (reach === 'pending') this.#holdHere()
      return reach
    })
  }

  isolate(): MaybePromise<Reach> {
    return this.#switch('isolate')
  }

  restore(): MaybePromise<Reach> {
    return this.#switch('restore')
  }

  reset(): MaybePromise<Reach> {
    return this.#switch('reset')
  }

  #carryOut(): MaybePromise<Reach> {
    if (this.#isAway) {
      this.#awaitBeat()
      return 'pending'
    }
    const reached = this.#switches?.carryOut(this.#shared) ?? 'fleet'
    return after<Reach, Reach>(reached, (reach) => {
      if (reach === 'pending') this.#awaitBeat()
      else if (!this.#isAway) this.#reunite()
      return reach
    })
  }

  /** A switch that the store has not got holds here: a circuit that is to be closed is one of this instance's own. */
  #holdHere(): void {
    this.#switches?.holdHere()
    if (this.#isAway && this.#switches?.targetFrom(this.state) === 'closed') {
      this.#beginAlone(true)
    }
    this.#arrange(NO_COUNTERS)
  }

  // ── What is heard of the store ────────────────────────────────────────────

  onMirrorChange(mirror: Mirror, before: CircuitSnapshot | undefined, counters: WindowCounters): void {
    if (!this.isCurrent(mirror)) return
    if (mirror === this.#shared) this.#onSharedChange(before)
    // Open for itself while the fleet stayed closed: recovered, it is one of the fleet again.
    else if (this.#isAlone && !this.#isAway && this.#isSoloClosed && this.#switches?.isPending !== true)
      this.#solo?.end()
    this.#arrange(counters)
    if (mirror === this.#shared && !this.#isAway) this.#probes?.giveBackUnused(mirror)
  }

  #onSharedChange(before: CircuitSnapshot | undefined): void {
    // The fleet has moved on, and what this instance made of the period before is over with it.
    const isNewPeriod = before?.fence !== this.#shared.snapshot?.fence
    if (isNewPeriod && this.#switches?.isPending !== true) this.#solo?.end()
    if (this.#isAway && this.#own === undefined) this.#goAlone()
  }

  onStoreDown(error: unknown): void {
    this.#isAway = true
    this.#events.emit('storeDown', { error, since: this.#settings.clock.now() })
    this.#goAlone()
    this.#arrange(NO_COUNTERS)
  }

  /** Finds out whether the store is back, when that is due. Tells it what this instance saw meanwhile. */
  #checkIn(): MaybePromise<void> {
    if (this.#isCheckingIn || this.#settings.clock.now() < this.#guard.retryAt) return
    this.#isCheckingIn = true
    this.#guard.beginCheckIn()
    const evidence = () => this.#solo?.evidenceFor(this.#shared.snapshot)
    const checkIn = lastly(
      () => this.#shared.checkIn(evidence),
      () => {
        this.#isCheckingIn = false
      },
    )
    // Once: the next check-in may have begun before this one was heard.
    return after(checkIn, (isBack) => (isBack && this.#isAway ? this.#onStoreUp() : undefined))
  }

  #onStoreUp(): MaybePromise<void> {
    this.#isAway = false
    this.#guard.endOutage()
    this.#listen()
    this.#events.emit('storeUp', { since: this.#settings.clock.now() })
    this.#isReturning = true
    const end = (): void => {
      this.#isReturning = false
    }
    return after(
      lastly(() => this.#return(), end),
      nothing,
    )
  }

  /** Tells the store what was decided and seen without it, and then takes up its state. */
  #return(): MaybePromise<unknown> {
    if (this.#switches?.isPending === true) return this.#carryOut()
    this.#probes?.giveBackUnused(this.#shared)
    // First what the fleet makes of it: a circuit that is to open here and there does not close in between.
    return after(this.onMirrorCounters(this.#shared), () => {
      if (!this.#isAway) this.#reunite()
    })
  }

  /** Counts from here on in a circuit of its own, which begins as the fleet's was last seen. */
  #goAlone(): void {
    if (this.#isAlone) return
    const { snapshot } = this.#shared
    const hasSeenFleet = snapshot?.state === 'closed' || snapshot?.state === 'isolated'
    const own = this.#beginAlone(!hasSeenFleet)
    own.tally.addTally(this.#shared.unconfirmed(), this.#settings.clock.now())
    if (hasSeenFleet || snapshot === undefined) return
    // Not before the fleet's own cooldown is over.
    const left = (snapshot.probeAfter ?? 0) - this.#shared.storeTime(this.#settings.clock.now())
    this.inBackground(() => this.#openAlone(own, Math.ceil(left)))
  }

  /** One of the fleet again: its state is taken up. */
  #reunite(): void {
    // Where it takes several reporters, an instance may be sick alone, and stays open for itself.
    const staysAlone =
      this.#settings.minReporters > 1 && this.#solo?.evidenceFor(this.#shared.snapshot) !== undefined
    if (!staysAlone) this.#solo?.end()
    this.#arrange(NO_COUNTERS)
    if (!this.#shared.tally.isEmpty) this.#awaitBeat()
  }

  /** The circuit of this instance's own, while there is one. */
  get #own(): Mirror | undefined {
    return this.#solo?.mirror
  }

  /** Whether that one decides. */
  get #isAlone(): boolean {
    return this.#solo?.decides === true
  }

  #beginAlone(decides = false): Mirror {
    this.#solo ??= new Solo(this.#settings, (link) => this.#newMirror(link))
    const own = this.#solo.begin(this.#shared.snapshot?.fence ?? '')
    this.#solo.decides = decides
    return own
  }

  get #deciding(): Mirror {
    return this.#isAlone && this.#own !== undefined ? this.#own : this.#shared
  }

  get #isSoloClosed(): boolean {
    return this.#own?.snapshot?.state === 'closed'
  }

  isCurrent(mirror: Mirror): boolean {
    return mirror === this.#shared || mirror === this.#own
  }

  /** Settles who decides and where outcomes are counted, and tells if the state is another one now. */
  #arrange(counters: WindowCounters): void {
    const { snapshot } = this.#deciding
    const own = this.#own
    this.#ledger = own !== undefined && (this.#isAlone || this.#isAway) ? own : this.#shared
    this.fence = snapshot?.fence ?? ''
    const from = this.state
    this.state = this.#switches?.isolates === true ? 'isolated' : (snapshot?.state ?? 'closed')
    const { rampUpMs, clock } = this.#settings
    if (this.state !== 'closed') this.#ramp?.end()
    else if (from !== 'closed' && rampUpMs > 0) {
      this.#ramp ??= new Ramp()
      this.#ramp.begin(clock.now(), rampUpMs)
    }
    const takesThought =
      this.state !== 'closed' ||
      this.#ramp?.isOn === true ||
      this.#settings.isStrict ||
      snapshot === undefined
    this.gate = takesThought ? undefined : this.fence
    if (this.state === from) return
    const by = this.#isMoverOf(this.fence) ? 'here' : 'peer'
    this.#events.emit('transition', { from, to: this.state, fence: this.fence, by, counters })
  }

  /** Whether this instance began the period. Of one of the fleet's that is said once: it may come back to it. */
  #isMoverOf(fence: string): boolean {
    if (this.#isAlone || this.#switches?.isolates === true) return true
    if (fence === this.#begun || !this.#identity.owns(fenceNonce(fence))) return false
    this.#begun = fence
    return true
  }

  // ── Threads to the outside ────────────────────────────────────────────────

  #newMirror(link: Link): Mirror {
    return new Mirror(this.name, link, this.#settings, this.#identity, this)
  }

  #listen(): void {
    this.#unsubscribe ??= subscribe(this.#settings.store, this.name, this.#shared)
  }

  /** The settings are others now: what was worked out from them is worked out anew. */
  reconfigured(): void {
    this.#arrange(NO_COUNTERS)
  }

  close(): void {
    this.#unsubscribe?.()
    // Not undefined, or the next call would listen again.
    this.#unsubscribe = nothing
  }

  #awaitBeat(): void {
    this.#isAwaitingBeat = true
    awaitBeat(this.#settings.clock, this)
  }

  get dueAt(): number {
    if (this.#switches?.isPending === true) {
      // While a check-in is on its way nothing can be done, however long it has been due.
      const inFlight = this.#isCheckingIn ? this.#settings.clock.now() : Number.NEGATIVE_INFINITY
      const { syncMs } = this.#settings
      return Math.max(this.#guard.retryAt, Math.max(this.#shared.askedAt, inFlight) + Math.max(1, syncMs))
    }
    const { syncMs } = this.#settings
    return this.#ledger.exchangedAt + (this.#isPressed ? syncMs / PRESSED_EXCHANGES : syncMs)
  }

  beat(): void {
    this.#isAwaitingBeat = false
    if (this.#switches?.isPending === true) this.#awaitBeat()
    if (this.#switches?.isPending === true && !this.#isAway) this.inBackground(() => this.#carryOut())
    else if (this.#switches?.isPending === true || !this.#ledger.tally.isEmpty) this.#syncInBackground()
  }
}

function nothing(): void {}
