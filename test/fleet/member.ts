import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { guard } from '../support/redis/guard'
import { environmentOf, type InstanceConfig } from './config'
import type { Command, Report } from './reports'

export const PROGRAM: string = fileURLToPath(new URL('./instance.ts', import.meta.url))

/** Beyond this a process that has closed everything is kept alive by something it forgot. */
const END_MS = 5_000

/** The process of one instance, as its parent sees it. */
export class Member {
  readonly name: string
  /** `frozen` until it is thawed, `gone` once it was killed or has ended. */
  state: 'running' | 'frozen' | 'gone' = 'running'
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'tidegate-instance-'))
  readonly #onReport: (report: Report) => void
  #isMeantToEnd = false

  constructor(config: InstanceConfig, onReport: (report: Report) => void) {
    this.name = config.name
    this.#onReport = onReport
    const log = openSync(join(this.#folder, 'log'), 'w')
    this.#child = fork(PROGRAM, {
      // For tsx to be found from wherever the tests were started.
      cwd: dirname(PROGRAM),
      execArgv: ['--import', 'tsx'],
      env: { ...process.env, ...environmentOf(config) },
      stdio: ['ignore', log, log, 'ipc'],
    })
    closeSync(log)
    // It ends when we do, unless it is frozen then: for that there is the guard.
    const release = guard(this.#child.pid as number, this.#folder)
    this.#exited = once(this.#child, 'exit').then(([code, signal]) => {
      release()
      this.#onExit(code ?? signal)
    })
    this.#child.on('message', (report: Report) => onReport(report))
  }

  /** A frozen process gets it when it is thawed, a dead one never. */
  send(command: Command): void {
    if (this.#child.connected) this.#child.send(command, () => {})
  }

  async kill(): Promise<void> {
    this.#isMeantToEnd = true
    this.state = 'gone'
    this.#child.kill('SIGKILL')
    await this.#exited
  }

  freeze(): void {
    if (this.state !== 'running') return
    this.state = 'frozen'
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    if (this.state !== 'frozen') return
    this.state = 'running'
    this.#child.kill('SIGCONT')
  }

  /** Asks it to end. Where it does not, that is reported, and it is killed. */
  async stop(): Promise<void> {
    if (this.state === 'gone') return
    this.thaw()
    this.#isMeantToEnd = true
    this.send({ do: 'stop' })
    const impatience = setTimeout(() => {
      this.#report('it did not end')
      this.#child.kill('SIGKILL')
    }, END_MS)
    await this.#exited
    clearTimeout(impatience)
  }

  #onExit(how: number | string): void {
    this.state = 'gone'
    if (!this.#isMeantToEnd) this.#report(`it ended by itself, with ${how}`)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #report(what: string): void {
    const log = readFileSync(join(this.#folder, 'log'), 'utf8')
    this.#onReport({ at: Date.now(), kind: 'unexpected', error: `${what}; it printed: ${log || 'nothing'}` })
  }
}
