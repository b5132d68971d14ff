import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Weather } from './schedule'

/** A request that reached the dependency. */
export interface Arrival {
  readonly at: number
  readonly weather: Weather
  readonly isProbe: boolean
}

/** A real server that is as ill as the schedule says, and keeps count of what reaches it. */
export class Dependency {
  weather: Weather = 'healthy'
  readonly arrivals: Arrival[] = []
  /** The most probes that were here at one moment. */
  mostProbes = 0
  readonly #random: () => number
  readonly #stragglers = new Set<ServerResponse>()
  readonly #server = createServer((req, res) => this.#answer(req, res))
  #probes = 0

  constructor(random: () => number) {
    this.#random = random
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Answers the calls that have been waiting since before everything. */
  failStragglers(): void {
    for (const res of this.#stragglers) fail(res)
    this.#stragglers.clear()
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    const isProbe = req.headers['x-probe'] !== undefined
    this.arrivals.push({ at: performance.now(), weather: this.weather, isProbe })
    if (isProbe) this.#countProbe(res)
    if (req.url === '/report') this.#stragglers.add(res)
    else if (this.weather === 'healthy') setTimeout(() => res.end('paid'), 4 + 8 * this.#random())
    else if (this.weather === 'failing' && this.#random() < 0.7) setTimeout(() => fail(res), 5)
    // The rest is left hanging, until the caller has had enough.
  }

  #countProbe(res: ServerResponse): void {
    this.#probes++
    this.mostProbes = Math.max(this.mostProbes, this.#probes)
    res.on('close', () => this.#probes--)
  }
}

function fail(res: ServerResponse): void {
  res.statusCode = 500
  res.end('down')
}
