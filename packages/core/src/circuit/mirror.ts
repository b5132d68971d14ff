import type {
  CircuitSnapshot,
  CircuitState,
  MaybePromise,
  Tally,
  Terms,
  WindowCounters,
} from '@tidegate/contract'
import { compareFences, windowSpanMs } from '@tidegate/contract'
import type { Identity } from '../identity'
import { after, isThenable } from '../maybe-promise'
import { readRecordAnswer, readSnapshot, readSwapAnswer } from '../store/answers'
import type { Link } from '../store/link'
import { NO_FENCE } from '../store/local'
import type { CircuitSettings } from './options'
import { NO_COUNTERS, OpenTally } from './tally'

/** Who looks into a mirror. */
export interface MirrorHost {
  /** The mirror shows something else now. `counters` are those of the period before, if it ended. */
  onMirrorChange(mirror: Mirror, before: CircuitSnapshot | undefined, counters: WindowCounters): void
  /** The store counted, and the mirror's counters are fresh. What comes of it is part of the exchange. */
  onMirrorCounters(mirror: Mirror): MaybePromise<unknown>
}

/** A tally that is on its way: it keeps its number until the store has answered it. */
interface SentTally {
  readonly tally: Tally
  readonly fence: string
  readonly takenAt: number
}

/**
 * One circuit in one store as this breaker last heard of it, and what the store
 * has not heard yet. It decides nothing: it sends, believes the answers that are
 * news, and drops what belongs to a period that is over.
 */
export class Mirror {
  snapshot: CircuitSnapshot | undefined
  counters: WindowCounters = NO_COUNTERS
  readonly tally: OpenTally = new OpenTally()
  /** When the store was last asked anything, by the instance's clock. */
  askedAt: number = Number.NEGATIVE_INFINITY
  /** When that was asked of it which it has answered: what is known is no older, though the answer may be. */
  knownAt: number = Number.NEGATIVE_INFINITY
  /** When outcomes last went to the store, or would have, had there been any. */
  exchangedAt: number = Number.NEGATIVE_INFINITY

  readonly #name: string
  readonly #link: Link
  readonly #settings: CircuitSettings
  readonly #identity: Identity
  readonly #host: MirrorHost
  #sent: SentTally | undefined
  /** The one that the store may have counted although it never said so, and that was counted elsewhere as well. */
  #lent: Tally | undefined
  /** Whether what was counted elsewhere in this absence of the store has been handed over. */
  #hasOffered = false
  #syncing: Promise<void> | undefined
  #refreshing: Promise<boolean> | undefined
  /** The store's clock less the instance's, and between which bounds that was last known to lie. */
  #offset = 0
  #offsetSpan: number | undefined
  #asked = 0
  /** Answers to what was asked up to here were overtaken by a later one. */
  #adopted = 0

  constructor(name: string, link: Link, settings: CircuitSettings, identity: Identity, host: MirrorHost) {
    this.#name = name
    this.#link = link
    this.#settings = settings
    this.#identity = identity
    this.#host = host
  }

  /** A moment of this instance's clock by the store's, in epoch ms: its answers, and what was counted since. */
  storeTime(moment: number): number {
    return moment + this.#offset
  }

  /** A process that was frozen wakes up with outcomes that were never sent, and are none of the present. */
  forgetOutdated(now: number): void {
    const { window, syncMs, storeTimeoutMs } = this.#settings
    const longest = Math.max(windowSpanMs(window) / 10, syncMs) + 2 * storeTimeoutMs
    if (!this.tally.isEmpty && now - this.tally.since > longest) this.tally.clear()
  }

  /** Sends the outcomes that have come together, or asks how things are if there are none. One exchange at a time. */
  sync(): MaybePromise<void> {
    if (this.#syncing !== undefined) return this.#syncing
    const exchange = this.#exchange(false)
    if (!isThenable(exchange)) return
    this.#syncing = (exchange as Promise<unknown>)
      .finally(() => {
        this.#syncing = undefined
      })
      .then(() => {})
    return this.#syncing
  }

  get isSyncing(): boolean {
    return this.#syncing !== undefined
  }

  /**
   * Asks a store that is away for one of everything: how things are, whether it
   * counts, and whether it swaps. One that has become read-only, or is out of memory,
   * answers the first and no more.
   *
   * @param offer the outcomes that were counted elsewhere meanwhile, if they may count here
   * @returns whether it answered all
   */
  checkIn(offer: () => WindowCounters | undefined): MaybePromise<boolean> {
    return after(this.read(true), (isAnswered) => {
      if (!isAnswered) return false
      const counters = offer()
      if (counters !== undefined) this.#offer(counters)
      return after(this.#exchange(true), (isCounted) => isCounted && this.#trySwap())
    })
  }

  /**
   * Asks how things are; whoever wants to know meanwhile waits for the same answer. Apart from an exchange, which
   * may take two round trips, and which what is counted now must not wait for.
   *
   * @returns whether the store answered
   */
  refresh(): MaybePromise<boolean> {
    if (this.#refreshing !== undefined) return this.#refreshing
    if (this.tally.isEmpty) this.exchangedAt = this.#settings.clock.now()
    const read = this.read()
    if (!isThenable(read)) return read
    this.#refreshing = (read as Promise<boolean>).finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** @returns whether the store answered */
  read(isCheckIn = false): MaybePromise<boolean> {
    const asked = this.#ask()
    return after(
      this.#link.ask(
        () => this.#link.circuits.readState(this.#name, this.#terms({})),
        readSnapshot,
        isCheckIn,
      ),
      (snapshot) => {
        if (snapshot !== undefined) this.#adopt(snapshot, asked)
        return snapshot !== undefined
      },
    )
  }

  /** @returns whether it landed; undefined if nobody knows */
  swap(
    from: CircuitState,
    to: CircuitState,
    fence: string,
    terms: Partial<Terms>,
  ): MaybePromise<boolean | undefined> {
    const asked = this.#ask()
    const full = this.#terms({ deadline: this.#deadline(), ...terms })
    return after(
      this.#link.ask(
        () => this.#link.circuits.compareAndSet(this.#name, from, to, fence, full),
        readSwapAnswer,
        false,
      ),
      (answer) => {
        if (answer === undefined) return undefined
        this.#adopt(answer.snapshot, asked)
        return answer.ok
      },
    )
  }

  /** A swap that cannot land, for no period ever had that fence. @returns whether the store answered */
  #trySwap(): MaybePromise<boolean> {
    const terms = this.#terms({ deadline: this.#deadline() })
    const { circuits } = this.#link
    const call = () => circuits.compareAndSet(this.#name, 'closed', 'closed', NO_FENCE, terms)
    return after(this.#link.ask(call, readSwapAnswer, true), (answer) => answer !== undefined)
  }

  /** What the store says unasked. It may be late, so only a later period is news. */
  push(message: unknown): void {
    // Its moments mean nothing before an answer has told the two clocks apart.
    if (this.#offsetSpan === undefined) return
    let snapshot: CircuitSnapshot
    try {
      snapshot = readSnapshot(message)
    } catch {
      // Nobody waits for it, and the next answer says the same.
      return
    }
    this.#compareWithPush(snapshot.now)
    this.#adopt(snapshot, undefined)
  }

  /** Everything that the store has not confirmed, for somebody else to count. */
  unconfirmed(): Omit<Tally, 'seq'> {
    const all = new OpenTally()
    this.#lent = this.#sent?.tally
    this.#hasOffered = false
    if (this.#lent !== undefined) all.addTally(this.#lent, 0)
    all.addTally(this.tally.take(0), 0)
    return all
  }

  /**
   * Hands over outcomes of the present period that were counted elsewhere while the
   * store was away, without what it may have had before it went. That goes again
   * under its old number, while it is young enough: then it is counted once. So are
   * these: whether a store that does not answer has counted them nobody knows, and
   * what is offered once more goes under the number it had.
   */
  #offer(counters: WindowCounters): void {
    if (this.#hasOffered) {
      if (this.#sent !== undefined) this.#sent = { ...this.#sent, takenAt: this.#settings.clock.now() }
      return
    }
    this.#hasOffered = true
    const rest = (of: 'successes' | 'failures' | 'slow') =>
      Math.max(0, counters[of] - (this.#lent?.[of] ?? 0))
    const successes = rest('successes')
    const failures = rest('failures')
    const trailingFailures = successes === 0 ? failures : Math.min(failures, counters.consecutiveFailures)
    const outcomes = {
      successes,
      failures,
      slow: Math.min(rest('slow'), successes + failures),
      trailingFailures,
    }
    this.tally.addTally(outcomes, this.#settings.clock.now())
  }

  /** @returns whether the store answered */
  #exchange(isCheckIn: boolean): MaybePromise<boolean> {
    const now = this.#settings.clock.now()
    this.exchangedAt = now
    this.forgetOutdated(now)
    // A resend is for an answer that was lost. Later it would count old outcomes as new.
    if (this.#sent !== undefined && now - this.#sent.takenAt > windowSpanMs(this.#settings.window) / 10) {
      this.#sent = undefined
    }
    const isToSend = isCheckIn || !this.tally.isEmpty
    if (this.#sent === undefined && this.snapshot !== undefined && isToSend) {
      this.#sent = {
        tally: this.tally.take(this.#identity.nextSeq()),
        fence: this.snapshot.fence,
        takenAt: now,
      }
    }
    const sent = this.#sent
    if (sent === undefined) return this.refresh()
    const asked = this.#ask()
    const terms = this.#terms({ deadline: this.#deadline() })
    return after(
      this.#link.ask(
        () => this.#link.circuits.record(this.#name, sent.fence, sent.tally, terms),
        readRecordAnswer,
        isCheckIn,
      ),
      (answer) => {
        if (answer === undefined) return false
        if (this.#sent === sent) this.#sent = undefined
        this.#adopt(answer.snapshot, asked)
        if (this.snapshot?.fence !== answer.snapshot.fence) return true
        this.counters = answer.counters
        return after(this.#host.onMirrorCounters(this), () => true)
      },
    )
  }

  #ask(): { readonly number: number; readonly at: number } {
    this.askedAt = this.#settings.clock.now()
    return { number: ++this.#asked, at: this.askedAt }
  }

  /** Past it the store does nothing any more, when nobody here waits for the answer. */
  #deadline(): number {
    return Math.ceil(this.storeTime(this.#settings.clock.now()) + this.#settings.storeTimeoutMs)
  }

  #terms(extra: Partial<Terms>): Terms {
    return {
      instance: this.#identity.instance,
      nonce: this.#identity.nextNonce(),
      window: this.#settings.window,
      cooldownMs: this.#settings.cooldown.cooldownMs,
      leaseMs: this.#settings.leaseMs,
      ...extra,
    }
  }

  #adopt(
    snapshot: CircuitSnapshot,
    asked: { readonly number: number; readonly at: number } | undefined,
  ): void {
    if (asked !== undefined) {
      this.knownAt = Math.max(this.knownAt, asked.at)
      this.#compareClocks(snapshot.now, asked.at)
    }
    const before = this.snapshot
    if (before !== undefined) {
      const order = before.fence === snapshot.fence ? 0 : compareFences(snapshot.fence, before.fence)
      // What was asked before the last answer came may be older than it. What was asked
      // after it is how things are, even if its fence is an earlier one: a store that
      // lost its memory has gone back in time, and took the fleet with it.
      const isOvertaken = asked === undefined || asked.number <= this.#adopted
      if (isOvertaken && (order < 0 || (order === 0 && snapshot.now < before.now))) return
    }
    this.#adopted = this.#asked
    this.snapshot = snapshot
    const counters = this.counters
    if (before?.fence !== snapshot.fence) {
      this.counters = NO_COUNTERS
      this.tally.clear()
      this.#sent = undefined
      this.#lent = undefined
      this.#hasOffered = false
    }
    this.#host.onMirrorChange(this, before, counters)
  }

  /** However long a push was under way, it was not stamped later than now: else the store's clock was set forward. */
  #compareWithPush(stamp: number): void {
    const least = stamp - this.#settings.clock.now()
    if (this.#offset >= least) return
    this.#offset = least
    // Any answer says more.
    this.#offsetSpan = Number.POSITIVE_INFINITY
  }

  /**
   * The store stamped its answer somewhere between question and answer: in the
   * middle, as NTP assumes, give or take half of the round trip. A slow answer says
   * less than a fast one did, and replaces what that said only if it contradicts it.
   */
  #compareClocks(stamp: number, askedAt: number): void {
    const answeredAt = this.#settings.clock.now()
    const span = answeredAt - askedAt
    const isPossible = this.#offset >= stamp - answeredAt && this.#offset <= stamp - askedAt
    if (isPossible && this.#offsetSpan !== undefined && span >= this.#offsetSpan) return
    this.#offset = stamp - (askedAt + answeredAt) / 2
    this.#offsetSpan = span
  }
}
