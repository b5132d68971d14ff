import type { HeldProbe } from './dependency'
import type { Period } from './journal'
import type { Member } from './member'
import type { Fate, Outage, Trouble } from './outage'
import { permitsOf } from './permits'
import type { Random } from './random'
import type { Scene } from './scene'

/** Calls of a closed circuit between two outages. */
const CALLS_BETWEEN = 60
/** What was under way when the trouble ended has arrived after that. */
const AFTERMATH_MS = 250

interface Sleeper {
  readonly member: Member
  readonly probe: HeldProbe
}

/** Plays outages to a scene, and lets their fates befall the probes. */
export class Player {
  killed = 0
  frozen = 0
  readonly #scene: Scene
  readonly #random: Random
  readonly #sleepers: Sleeper[] = []
  readonly #replacements: Promise<void>[] = []

  constructor(scene: Scene, random: Random) {
    this.#scene = scene
    this.#random = random
  }

  /** One outage, from a healthy fleet to a healthy fleet. */
  async play({ weather, fates, trouble }: Outage): Promise<void> {
    const { bell, dependency, journal } = this.#scene
    const began = Date.now()
    this.#begin(trouble)
    dependency.weather = weather
    await bell.until('a trip', () => journal.last?.state !== 'closed')
    for (const fate of fates) await this.#befall(fate)
    dependency.weather = 'healthy'
    await bell.until('the circuit to close', () => journal.last?.state === 'closed')
    this.#end(trouble, began)
    for (const { member, probe } of this.#sleepers.splice(0)) await this.#wake(member, probe)
    await Promise.all(this.#replacements.splice(0))
    await this.#scene.agreement()
    await this.healthyCalls()
  }

  /** Resolves when the present period has seen some. */
  async healthyCalls(): Promise<void> {
    const { bell, dependency, journal } = this.#scene
    const { visits } = dependency
    let seen = visits.length
    let calls = 0
    await bell.until('healthy calls', () => {
      for (; seen < visits.length; seen++) if (visits[seen]?.fence === journal.last?.fence) calls++
      return calls >= CALLS_BETWEEN
    })
  }

  async #befall(fate: Fate): Promise<void> {
    const { dependency, fleet } = this.#scene
    const probe = await dependency.nextProbe()
    const member = fleet.member(probe.visit.instance)
    switch (fate) {
      case 'fails':
        probe.fail()
        break
      case 'succeeds':
        probe.succeed()
        break
      case 'is left':
        member.send({ do: 'leave' })
        break
      case 'is killed':
        this.killed++
        this.#replace(member)
        break
      case 'is frozen':
      case 'sleeps in':
        this.frozen++
        member.freeze()
        break
      case 'hangs':
        break
    }
    await this.#periodAfter(probe)
    // Late: whoever waits in spite of the signal gets it still.
    if (fate === 'hangs') this.#answer(probe)
    if (fate === 'sleeps in') this.#sleepers.push({ member, probe })
    if (fate !== 'is frozen') return
    const next = await dependency.nextProbe()
    await this.#wake(member, probe)
    next.fail()
    await this.#periodAfter(next)
  }

  #periodAfter({ visit: { fence } }: HeldProbe): Promise<Period> {
    const { bell, journal } = this.#scene
    return bell.until(`the end of ${fence}`, () => journal.after(fence))
  }

  #replace(member: Member): void {
    const replaced = async (): Promise<void> => {
      await member.kill()
      const successor = await this.#scene.fleet.add()
      successor.send({ do: 'go' })
    }
    this.#replacements.push(replaced())
  }

  /** A process goes on after its lease, and gets an answer, which may have come while it was frozen. */
  async #wake(member: Member, probe: HeldProbe): Promise<void> {
    const { fence } = probe.visit
    const isAnsweredFirst = this.#random.chance(0.5)
    if (isAnsweredFirst) this.#answer(probe)
    member.thaw()
    if (!isAnsweredFirst) this.#answer(probe)
    const { fleet, journal } = this.#scene
    // On a busy machine its time may have been up before the signal came, and its verdict none too late; it
    // may even have probed again by then, and met its end.
    const hasLapsed = permitsOf(journal.periods).some((permit) => permit.fence === fence && permit.hasLapsed)
    if (!hasLapsed || member.state !== 'running') return
    await fleet.heard(
      `${member.name} to be told that it is late`,
      ({ report }) => report.kind === 'late' && report.fence === fence,
    )
  }

  #answer(probe: HeldProbe): void {
    if (this.#random.chance(0.5)) probe.succeed()
    else probe.fail()
  }

  #begin(trouble: Trouble): void {
    const { proxy } = this.#scene
    // Not so long that a probe's time is over before its permit has come.
    if (trouble === 'delays') proxy.delayMs = Math.floor(this.#random.between(20, 150))
    if (trouble === 'loses replies') proxy.loseReplies(3, isScript)
    if (trouble === 'repeats') proxy.repeat(Number.POSITIVE_INFINITY, isScript)
  }

  #end(trouble: Trouble, from: number): void {
    const { proxy, deafness } = this.#scene
    proxy.delayMs = 0
    proxy.loseReplies(0)
    proxy.repeat(0)
    if (trouble === 'none') return
    const until = Date.now() + AFTERMATH_MS
    for (const instance of this.#scene.behindProxy()) deafness.push({ instance, from, until })
  }
}

function isScript([command]: readonly string[]): boolean {
  return command === 'EVALSHA' || command === 'EVAL'
}
