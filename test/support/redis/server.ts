import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../until'
import { Child } from './child'
import { configText, type RedisConfig } from './config'
import { Connection } from './connection'
import { onFreePort } from './ports'

export interface RedisOptions {
  /**
   * Added to the configuration, or put in place of what is there; the address, port
   * and folder stay. The default user must stay open, since `command` comes as him.
   */
  readonly config?: RedisConfig
}

/** A real Redis, on 127.0.0.1, that keeps its data in memory only. */
export interface RedisServer extends AsyncDisposable {
  readonly host: string
  readonly port: number
  /** `redis://127.0.0.1:` and the port. */
  readonly url: string
  /** A server that died by itself is down, too. */
  readonly state: 'running' | 'frozen' | 'down' | 'stopped'
  /**
   * Sends a command on a connection of the server's own, opened again when it was
   * lost. Rejects with `ReplyError` what Redis refuses; waits while the server is frozen.
   */
  command(...words: readonly (string | number)[]): Promise<unknown>
  /** SIGSTOP: connections stay open, and nothing answers. Resolves when it stands still. */
  freeze(): Promise<void>
  /** SIGCONT: it goes on, with all that it was sent meanwhile. */
  thaw(): void
  /** SIGKILL. Resolves when the process is gone; its port refuses connections then. */
  kill(): Promise<void>
  /**
   * Starts it after {@link RedisServer.kill}, on the same port, empty.
   *
   * @param config added to the configuration, from now on
   */
  start(config?: RedisConfig): Promise<void>
  /** {@link RedisServer.kill}, then {@link RedisServer.start}. */
  restart(): Promise<void>
  /** SIGTERM, frozen or not, and SIGKILL where that does not do. For good: its folder goes too. Once is enough. */
  stop(): Promise<void>
}

const HOST = '127.0.0.1'

const inMemory: RedisConfig = {
  save: '',
  appendonly: 'no',
  // A replica is served at once instead of after some seconds in which others may turn up.
  'repl-diskless-sync': 'yes',
  'repl-diskless-sync-delay': 0,
}

/** Starts a Redis on a free port. Resolves when it answers. */
export function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  return startServer([], { ...inMemory, ...options.config })
}

/**
 * Starts `redis-server` in whatever mode.
 *
 * @param flags what follows the configuration file's name, such as `--sentinel`
 */
export function startServer(flags: readonly string[], config: RedisConfig): Promise<RedisServer> {
  return onFreePort(async (port) => {
    const server = new Server(port, flags, config)
    try {
      await server.start()
      return server
    } catch (error) {
      await server.stop()
      if (error instanceof PortTakenError) return undefined
      throw error
    }
  })
}

class PortTakenError extends Error {
  constructor(port: number) {
    super(`port ${port} is taken`)
  }
}

type State =
  | { readonly is: 'running' | 'frozen'; readonly child: Child }
  | { readonly is: 'down' | 'stopped' }

class Server implements RedisServer {
  readonly host: string = HOST
  readonly port: number
  readonly #folder = mkdtempSync(join(tmpdir(), 'tidegate-redis-'))
  readonly #file: string = join(this.#folder, 'redis.conf')
  readonly #flags: readonly string[]
  readonly #connection: Connection
  #state: State = { is: 'down' }

  constructor(port: number, flags: readonly string[], config: RedisConfig) {
    this.port = port
    this.#flags = flags
    writeFileSync(
      this.#file,
      configText({ ...config, bind: HOST, port, 'protected-mode': 'no', dir: this.#folder }),
    )
    this.#connection = new Connection(port)
  }

  get url(): string {
    return `redis://${HOST}:${this.port}`
  }

  get state(): RedisServer['state'] {
    return 'child' in this.#state && this.#state.child.ended ? 'down' : this.#state.is
  }

  command(...words: readonly (string | number)[]): Promise<unknown> {
    return this.#connection.send(words)
  }

  async freeze(): Promise<void> {
    const child = this.#child()
    this.#state = { is: 'frozen', child }
    await child.freeze()
  }

  thaw(): void {
    const child = this.#child()
    this.#state = { is: 'running', child }
    child.thaw()
  }

  async kill(): Promise<void> {
    const child = this.#child()
    this.#state = { is: 'down' }
    await child.kill()
    // Its end may not have reached the connection yet, and the next command is for the next process.
    this.#connection.close()
  }

  async start(config: RedisConfig = {}): Promise<void> {
    if (this.state !== 'down') throw this.#wrongState()
    // Added to what is there, which Redis itself may have rewritten, as a sentinel makes it do. The last line counts.
    appendFileSync(this.#file, configText(config))
    const child = new Child(this.#folder, [this.#file, ...this.#flags])
    this.#state = { is: 'running', child }
    try {
      await Promise.race([this.#answers(child), this.#endsEarly(child)])
    } catch (error) {
      await this.kill()
      throw error
    }
  }

  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  async stop(): Promise<void> {
    const before = this.#state
    this.#state = { is: 'stopped' }
    this.#connection.close()
    if ('child' in before) await before.child.terminate()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #child(): Child {
    if (!('child' in this.#state)) throw this.#wrongState()
    return this.#state.child
  }

  #wrongState(): Error {
    return new Error(`the server on port ${this.port} is ${this.state}`)
  }

  /** Whoever had the port before us may answer in the place of a child that is about to fail: ask who it is. */
  async #answers(child: Child): Promise<void> {
    const ours = `process_id:${child.pid}\r\n`
    await until(`Redis on port ${this.port}`, async () => {
      // Otherwise a connection would be opened that nobody closes.
      if (this.state !== 'running') return true
      try {
        return String(await this.command('INFO', 'server')).includes(ours)
      } catch {
        return false
      }
    })
  }

  async #endsEarly(child: Child): Promise<never> {
    await child.exited
    const log = child.log()
    if (/address already in use|failed listening on port/i.test(log)) throw new PortTakenError(this.port)
    throw new Error(`redis-server ended at once:\n${log}`)
  }
}
