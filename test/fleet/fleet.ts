import type { Bell } from './bell'
import type { InstanceConfig } from './config'
import { Member } from './member'
import type { Command, Status, Telling } from './reports'

/** Eight processes that start at once on two cores take their time. */
const START_MS = 60_000

/** What a fleet tells its next instance; it numbers them from 0 on. */
export type Recipe = (number: number) => Omit<InstanceConfig, 'name'>

/** Instances that are started, killed, frozen, thawed and replaced, and everything they told. */
export class Fleet {
  readonly tellings: Telling[] = []
  readonly members: Member[] = []
  readonly #bell: Bell
  readonly #recipe: Recipe
  #statuses = 0

  constructor(bell: Bell, recipe: Recipe) {
    this.#bell = bell
    this.#recipe = recipe
  }

  /** Those that are neither frozen nor gone. */
  get running(): Member[] {
    return this.members.filter(({ state }) => state === 'running')
  }

  member(name: string): Member {
    const member = this.members.find((one) => one.name === name)
    if (member === undefined) throw new Error(`there is no instance ${name}`)
    return member
  }

  /** Starts one more, and resolves when it may be told to go. */
  async add(): Promise<Member> {
    const number = this.members.length
    const name = `i${number}`
    const member = new Member({ name, ...this.#recipe(number) }, (report) => {
      this.tellings.push({ instance: name, report })
      this.#bell.ring()
    })
    this.members.push(member)
    await this.heard(
      `${name} to be ready`,
      (telling) => telling.instance === name && isStart(telling),
      START_MS,
    )
    if (member.state === 'gone')
      throw new Error(`${name} did not start: ${JSON.stringify(this.tellings.at(-1))}`)
    return member
  }

  tell(command: Command): void {
    for (const member of this.running) member.send(command)
  }

  /** Resolves with the first such telling, be it long past. */
  heard(what: string, is: (telling: Telling) => boolean, patienceMs?: number): Promise<Telling> {
    return this.#bell.until(what, () => this.tellings.find(is), patienceMs)
  }

  /** How the running ones see the circuit just now. */
  async statuses(): Promise<Map<string, Status>> {
    const number = this.#statuses++
    const since = this.tellings.length
    const asked = this.running
    for (const member of asked) member.send({ do: 'status', number })
    const statuses = new Map<string, Status>()
    await this.#bell.until('everybody to say how things are', () => {
      for (const { instance, report } of this.tellings.slice(since)) {
        if (report.kind === 'status' && report.number === number) statuses.set(instance, report)
      }
      return asked.every(({ name, state }) => statuses.has(name) || state === 'gone')
    })
    return statuses
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()))
  }
}

/** Ready, or never to be. */
function isStart({ report: { kind } }: Telling): boolean {
  return kind === 'ready' || kind === 'unexpected'
}
