/**
 * setTimeout knows whole milliseconds only, and comes late by up to another one.
 * What is due sooner than this is waited for by asking the clock on each turn of
 * the event loop: that takes a core, but is right to some hundredths of a
 * millisecond, and I/O goes on meanwhile.
 */
const WATCHED_MS = 2.5

/** What holds for every lane of a proxy, at any moment. */
export interface Traffic {
  /** How long what comes now is under way. */
  lagMs: number
  /** While true nothing arrives, and nothing is lost. */
  held: boolean
}

/** One direction of a connection: what is sent arrives later, in the order in which it was sent. */
export class Lane {
  readonly #traffic: Traffic
  #queue: { readonly dueAt: number; readonly arrive: () => void }[] = []
  #timer: { readonly cancel: () => void } | undefined

  constructor(traffic: Traffic) {
    this.#traffic = traffic
  }

  send(arrive: () => void): void {
    // Even when the lag was just cut short, nothing overtakes.
    const last = this.#queue.at(-1)?.dueAt ?? 0
    this.#queue.push({ dueAt: Math.max(last, performance.now() + this.#traffic.lagMs), arrive })
    if (!this.#timer) this.run()
  }

  /** Lets arrive what is due; to be called when the traffic is no longer held. */
  run(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    while (!this.#traffic.held) {
      const next = this.#queue[0]
      if (!next) return
      const left = next.dueAt - performance.now()
      if (left > 0) {
        this.#timer = wait(left, () => this.run())
        return
      }
      this.#queue.shift()
      next.arrive()
    }
  }

  /** Loses what is under way. */
  clear(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#queue = []
  }
}

function wait(ms: number, callback: () => void): { readonly cancel: () => void } {
  if (ms > WATCHED_MS) {
    const timer = setTimeout(callback, ms - WATCHED_MS)
    return { cancel: () => clearTimeout(timer) }
  }
  const turn = setImmediate(callback)
  return { cancel: () => clearImmediate(turn) }
}
