import { createServer } from 'node:http'
import { closed, listening } from './serving'

const ANSWERS: Readonly<Record<string, unknown>> = {
  '/prices/teapot': { cents: 2_400 },
  '/reviews/teapot': ['Pours well.', 'Does not drip.'],
  '/delivery': { days: 2 },
}

/** The dependency: a real server that is up or down, and keeps count of what reaches it while it is down. */
export class Catalogue {
  isDown = false
  reachedWhileDown = 0
  readonly #server = createServer((req, res) => {
    if (this.isDown) this.reachedWhileDown++
    const answer = ANSWERS[req.url ?? '']
    res.writeHead(this.isDown ? 500 : answer === undefined ? 404 : 200, {
      'content-type': 'application/json',
    })
    res.end(JSON.stringify(this.isDown ? 'out of order' : (answer ?? null)))
  })

  listen(): Promise<string> {
    return listening(this.#server)
  }

  close(): Promise<void> {
    return closed(this.#server)
  }
}
