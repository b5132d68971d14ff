import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Bell } from './bell'
import { isShared } from './journal'

/** How the dependency is to whoever gets no treatment of his own. */
export type Weather = 'healthy' | 'failing' | 'hanging'

/** One request that reached the dependency. Moments are epoch ms. */
export interface Visit {
  readonly instance: string
  readonly fence: string
  /** When the instance let it through; the way here takes its time. */
  readonly sentAt: number
  readonly at: number
  /** Of a probe: when its permit ends, as its instance was told. */
  readonly until?: number
  /** Missing while it is here. `left`: its connection closed before it was answered. */
  end?: { readonly at: number; readonly how: 'answered' | 'failed' | 'left' }
}

/** A visit that is a probe. */
export type ProbeVisit = Visit & { readonly until: number }

/** A probe that is kept waiting, for as long as one likes. */
export interface HeldProbe {
  readonly visit: ProbeVisit
  succeed(): void
  fail(): void
}

/** What everybody calls: a real server that is as ill as it is told to be, and keeps a book of its visitors. */
export class Dependency {
  readonly visits: Visit[] = []
  readonly #bell: Bell
  readonly #server = createServer((req, res) => this.#receive(req, res))
  /** Requests of no special treatment that are kept waiting. */
  readonly #hanging = new Map<ServerResponse, Visit>()
  #weather: Weather = 'healthy'
  #isNextProbeHeld = false
  #held: HeldProbe | undefined

  constructor(bell: Bell) {
    this.#bell = bell
    // An idle connection that is closed here while it is used there would be an error of nobody's.
    this.#server.keepAliveTimeout = 0
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  get weather(): Weather {
    return this.#weather
  }

  /** In good weather those who were left hanging are answered, whether or not they still wait. */
  set weather(weather: Weather) {
    this.#weather = weather
    if (weather !== 'healthy') return
    for (const [res, visit] of this.#hanging) this.#answer(res, visit, 200)
    this.#hanging.clear()
  }

  /** Keeps the next probe under a permit waiting, whatever the weather, and hands it out. */
  async nextProbe(): Promise<HeldProbe> {
    this.#held = undefined
    this.#isNextProbeHeld = true
    return this.#bell.until('a probe', () => this.#held)
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #receive({ headers }: IncomingMessage, res: ServerResponse): void {
    const { instance, fence, until } = headers
    const visit: Visit = {
      instance: String(instance),
      fence: String(fence),
      sentAt: Number(headers['sent-at']),
      at: Date.now(),
      ...(until !== undefined && { until: Number(until) }),
    }
    this.visits.push(visit)
    res.on('close', () => {
      this.#hanging.delete(res)
      visit.end ??= { at: Date.now(), how: 'left' }
      this.#bell.ring()
    })
    if (isProbe(visit) && isShared(visit.fence) && this.#isNextProbeHeld) this.#hold(res, visit)
    else if (this.#weather === 'hanging') this.#hanging.set(res, visit)
    else this.#answer(res, visit, this.#weather === 'healthy' ? 200 : 500)
    this.#bell.ring()
  }

  #hold(res: ServerResponse, visit: ProbeVisit): void {
    this.#isNextProbeHeld = false
    this.#held = {
      visit,
      succeed: () => this.#answer(res, visit, 200),
      fail: () => this.#answer(res, visit, 500),
    }
  }

  #answer(res: ServerResponse, visit: Visit, status: 200 | 500): void {
    if (visit.end !== undefined) return
    visit.end = { at: Date.now(), how: status === 200 ? 'answered' : 'failed' }
    res.statusCode = status
    res.end()
  }
}

export function isProbe(visit: Visit): visit is ProbeVisit {
  return visit.until !== undefined
}
