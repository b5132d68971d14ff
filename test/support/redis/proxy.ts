import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { Conversation } from './conversation'
import { Fault, type Which } from './fault'
import { Lane, type Traffic } from './lane'
import { onFreePort } from './ports'

const HOST = '127.0.0.1'

/**
 * A link to a Redis that fails as real links do. Speaks RESP2 and RESP3; not for
 * replicas, nor for CLIENT REPLY. The faults of single commands leave a connection
 * alone once it has subscribed to something; all others hold for it too.
 */
export interface RedisProxy extends AsyncDisposable {
  readonly host: string
  readonly port: number
  /** `redis://127.0.0.1:` and the port. */
  readonly url: string
  /**
   * What the proxy adds to a round trip, in ms, fractions allowed: half of it each
   * way. In order, and without keeping pipelined commands apart. Holds for what comes from
   * now on. Right to some 0.1 ms, for which it keeps a core busy while anything is
   * under way. At 0, the default, the proxy itself is all that takes time.
   */
  delayMs: number
  /** Requests that came from clients, those that open a connection included. */
  readonly commandsSeen: number
  /** Destroys every connection, and refuses new ones. What was under way is lost. */
  cut(): Promise<void>
  /** Undoes {@link RedisProxy.cut}. */
  mend(): Promise<void>
  /**
   * Nothing arrives any more, either way; connections are accepted, and none ends.
   * What is sent meanwhile is under way, as on a network that lost its route.
   */
  mute(): void
  /** Undoes {@link RedisProxy.mute}; what was under way arrives, in order. */
  unmute(): void
  /**
   * Redis executes the next `count` requests that are meant, but instead of a reply
   * the client sees the end of its connection. Earlier replies reach it; whether
   * Redis executes what was pipelined behind is open.
   */
  loseReplies(count: number, which?: Which): void
  /** Redis gets the next `count` requests that are meant twice; the client gets the second reply. */
  repeat(count: number, which?: Which): void
  /** {@link RedisProxy.cut}, for good. */
  stop(): Promise<void>
}

/** Starts a proxy on a free port, in this process, in front of a port of 127.0.0.1. */
export function startProxy(targetPort: number): Promise<RedisProxy> {
  return onFreePort(async (port) => {
    const proxy = new TcpProxy(port, targetPort)
    try {
      await proxy.mend()
      return proxy
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined
      throw error
    }
  })
}

interface Link {
  readonly lanes: readonly Lane[]
  destroy(): void
}

class TcpProxy implements RedisProxy {
  readonly host: string = HOST
  readonly port: number
  readonly #targetPort: number
  readonly #listener: Server
  readonly #links: Set<Link> = new Set()
  readonly #traffic: Traffic = { lagMs: 0, held: false }
  readonly #lostReply: Fault = new Fault()
  readonly #repetition: Fault = new Fault()
  #commandsSeen = 0

  constructor(port: number, targetPort: number) {
    this.port = port
    this.#targetPort = targetPort
    // Half-open, because the end of a stream is under way as long as what came before it.
    this.#listener = createServer({ noDelay: true, allowHalfOpen: true }, (client) => this.#link(client))
  }

  get url(): string {
    return `redis://${HOST}:${this.port}`
  }

  get delayMs(): number {
    return 2 * this.#traffic.lagMs
  }

  set delayMs(ms: number) {
    this.#traffic.lagMs = ms / 2
  }

  get commandsSeen(): number {
    return this.#commandsSeen
  }

  async cut(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()))
    for (const link of this.#links) link.destroy()
    await closed
  }

  async mend(): Promise<void> {
    if (this.#listener.listening) return
    this.#listener.listen(this.port, HOST)
    await once(this.#listener, 'listening')
  }

  mute(): void {
    this.#traffic.held = true
  }

  unmute(): void {
    this.#traffic.held = false
    for (const { lanes } of this.#links) for (const lane of lanes) lane.run()
  }

  loseReplies(count: number, which?: Which): void {
    this.#lostReply.arm(count, which)
  }

  repeat(count: number, which?: Which): void {
    this.#repetition.arm(count, which)
  }

  stop(): Promise<void> {
    return this.cut()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #link(client: Socket): void {
    const server = connect({ port: this.#targetPort, host: HOST, noDelay: true, allowHalfOpen: true })
    const there = new Lane(this.#traffic)
    const back = new Lane(this.#traffic)
    const link: Link = {
      lanes: [there, back],
      destroy: () => {
        this.#links.delete(link)
        for (const lane of link.lanes) lane.clear()
        for (const socket of [client, server]) socket.destroy()
      },
    }
    this.#links.add(link)
    const talk = new Conversation(
      {
        toServer: (request) => there.send(() => server.write(request)),
        toClient: (reply) => back.send(() => client.write(reply)),
        breakOff: () => back.send(link.destroy),
      },
      { lostReply: this.#lostReply, repetition: this.#repetition },
    )
    client.on('data', (chunk) => {
      this.#commandsSeen += talk.asked(chunk)
    })
    server.on('data', (chunk) => talk.answered(chunk))
    for (const [socket, lane, other] of [
      [client, there, server],
      [server, back, client],
    ] as const) {
      socket.on('end', () => lane.send(() => other.end()))
      // An error is followed by this, and here it comes to the same.
      socket.on('close', () => lane.send(() => link.destroy()))
      socket.on('error', () => {})
    }
  }
}
