import { Agent, request as send } from 'node:http'

/** What one call tells the dependency of itself: those of a real application would not say so much. */
export interface Introduction {
  readonly instance: string
  readonly fence: string
  /** When the call was let through, epoch ms. */
  readonly sentAt: number
  /** Only of a probe: when its permit ends. */
  readonly until: number | undefined
}

/** The dependency answered, and said no. */
class DependencyError extends Error {
  readonly code = 'DEPENDENCY_FAILED'
  readonly status: number

  constructor(status: number) {
    super(`the dependency answered ${status}`)
    this.status = status
  }
}

/** Calls to the dependency, over connections that are kept. */
export class Requests {
  readonly #port: number
  readonly #agent = new Agent({ keepAlive: true })

  constructor(port: number) {
    this.#port = port
  }

  /** @throws DependencyError */
  send({ instance, fence, sentAt, until }: Introduction, signal?: AbortSignal): Promise<void> {
    const headers = { instance, fence, 'sent-at': sentAt, ...(until !== undefined && { until }) }
    const { promise, resolve, reject } = withResolvers()
    const outgoing = send({
      host: '127.0.0.1',
      port: this.#port,
      agent: this.#agent,
      headers,
      ...(signal !== undefined && { signal }),
    })
    outgoing.on('error', reject)
    outgoing.on('response', (incoming) => {
      const { statusCode = 0 } = incoming
      incoming.on('error', reject)
      incoming.on('end', () => (statusCode === 200 ? resolve() : reject(new DependencyError(statusCode))))
      incoming.resume()
    })
    outgoing.end()
    return promise
  }

  close(): void {
    this.#agent.destroy()
  }
}

interface Resolvers {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

function withResolvers(): Resolvers {
  let resolve = (): void => {}
  let reject = (_error: Error): void => {}
  const promise = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
