import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../until'
import { guard } from './guard'

/** Since it keeps nothing, Redis ends within one turn of its clock, a tenth of a second. */
const GRACE_MS = 1_000

/** A `redis-server` that runs, and dies with us. */
export class Child {
  readonly pid: number
  /** Resolves when the process has ended, for whatever reason. */
  readonly exited: Promise<void>
  readonly #folder: string
  #ended = false

  /** @param args what follows `redis-server`; it may write in the folder */
  constructor(folder: string, args: readonly string[]) {
    const log = openSync(join(folder, 'log'), 'w')
    const child = spawn('redis-server', args, { cwd: folder, stdio: ['ignore', log, log] })
    closeSync(log)
    // Without a number, below, it has already failed.
    child.on('error', () => {})
    if (child.pid === undefined) throw new Error('redis-server cannot be started')
    const release = guard(child.pid, folder)
    this.pid = child.pid
    this.exited = once(child, 'exit').then(() => {
      this.#ended = true
      release()
    })
    this.#folder = folder
  }

  get ended(): boolean {
    return this.#ended
  }

  /** What it printed so far. */
  log(): string {
    return readFileSync(join(this.#folder, 'log'), 'utf8')
  }

  /** Stops it where it is, as if the machine had no time for it; resolves when it stands still. */
  async freeze(): Promise<void> {
    this.#signal('SIGSTOP')
    await until(`process ${this.pid} to stand still`, () => this.#ended || isStopped(this.pid))
  }

  thaw(): void {
    this.#signal('SIGCONT')
  }

  async kill(): Promise<void> {
    this.#signal('SIGKILL')
    await this.exited
  }

  /** Asks it to end, frozen or not, and kills it when it does not. */
  async terminate(): Promise<void> {
    this.#signal('SIGTERM')
    this.thaw()
    const impatience = setTimeout(() => this.#signal('SIGKILL'), GRACE_MS)
    await this.exited
    clearTimeout(impatience)
  }

  /** What has ended is not signalled: its number may be somebody else's by now. */
  #signal(name: NodeJS.Signals): void {
    if (!this.#ended) process.kill(this.pid, name)
  }
}

/** A signal is on its way for some microseconds. Where there is no /proc, that has to do. */
function isStopped(pid: number): boolean {
  try {
    return /^\d+ \(.*\) T/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return true
  }
}
