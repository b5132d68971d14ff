import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { moment } from './moment'
import { SLOW_MS, type Weather } from './schedule'

/** A request that reached the dependency. */
export interface Arrival {
  readonly at: number
  readonly weather: Weather
  /** By whom, and when it was let in there: on the way to here it may have been for a while. */
  readonly instance: string
  readonly sentAt: number
  readonly isProbe: boolean
}

/** A real server that is as ill as the schedule says, and keeps count of what reaches it. */
export class Dependency {
  weather: Weather = 'healthy'
  readonly arrivals: Arrival[] = []
  /** Until a call has come that will be left waiting. */
  readonly hasStraggler: Promise<void>
  /** The most probes that were here at one moment under permits that had not run out. */
  mostProbes = 0
  readonly #random: () => number
  readonly #stragglers = new Set<ServerResponse>()
  #onStraggler = (): void => {}
  readonly #server = createServer((req, res) => this.#answer(req, res))
  readonly #permits = new Set<{ readonly until: number }>()

  constructor(random: () => number) {
    this.#random = random
    this.hasStraggler = new Promise((resolve) => {
      this.#onStraggler = resolve
    })
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
    const { 'x-instance': instance, 'x-sent-at': sentAt, 'x-permit-until': until } = req.headers
    this.arrivals.push({
      at: moment(),
      weather: this.weather,
      instance: String(instance),
      sentAt: Number(sentAt),
      isProbe: until !== undefined,
    })
    if (until !== undefined) this.#countProbe(Number(until), res)
    if (req.url === '/report') this.#keep(res)
    else if (this.weather === 'healthy') setTimeout(() => res.end('paid'), 4 + 8 * this.#random())
    else if (this.weather === 'slow') setTimeout(() => res.end('paid'), SLOW_MS + 300 * this.#random())
    else if (this.#random() < 0.7) setTimeout(() => fail(res), 5)
    // The rest is left hanging, until the caller has had enough.
  }

  #keep(res: ServerResponse): void {
    this.#stragglers.add(res)
    this.#onStraggler()
  }

  #countProbe(until: number, res: ServerResponse): void {
    const permit = { until }
    this.#permits.add(permit)
    res.on('close', () => this.#permits.delete(permit))
    const now = moment()
    // Who was given up when his permit ran out may still be heard of here, for as long as that takes to arrive.
    const live = [...this.#permits].filter((other) => other === permit || other.until > now)
    this.mostProbes = Math.max(this.mostProbes, live.length)
  }
}

function fail(res: ServerResponse): void {
  res.statusCode = 500
  res.end('down')
}
