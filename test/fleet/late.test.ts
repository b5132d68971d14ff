import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { judge } from './judge'
import { type Plan, type Scene, startScene } from './scene'
import { isSwap, Toll } from './toll'

/*
 * Where chance would take years: decisions that come so late, or so early, that one
 * condition of the swap alone stands between them and the circuit. The first of the
 * instances has its way to Redis through a toll, the second has it to itself.
 */

const breaker: Plan['breaker'] = {
  name: 'payments',
  failureRate: 0.5,
  minimumCalls: 10,
  windowMs: 2_000,
  cooldownMs: 100,
  cooldownJitter: 0,
  cooldownBackoff: { factor: 1, maxMs: 100 },
  probeTimeoutMs: 400,
  syncMs: 50,
  // Where a decision does not land, it is not for want of patience.
  storeTimeoutMs: 5_000,
  whenStoreDown: 'hold',
}

function newScene(options: Partial<Plan['breaker']> = {}): Promise<Scene> {
  return startScene({
    breaker: { ...breaker, ...options },
    personality: (number) => ({
      callers: 10,
      thinkMs: [20, 40],
      // Later than any probe's: here it is the probe's own time that ends it.
      deadlineMs: 10_000,
      heedsSignal: true,
      seed: number,
    }),
    isBehindProxy: (number) => number === 0,
  })
}

test('refuses a verdict that comes after its lease, though nobody has claimed the permit since', async () => {
  await using scene = await newScene()
  const { bell, dependency, fleet, journal, proxy } = scene
  const toll = new Toll(proxy, bell)
  const late = await fleet.add()
  late.send({ do: 'go' })
  await firstCalls(scene)

  dependency.weather = 'failing'
  const probe = await dependency.nextProbe()
  dependency.weather = 'healthy'
  const stopped = toll.stopAt('its verdict', isSwap('half-open', 'closed'))
  probe.succeed()
  await stopped
  await moment(probe.visit.until + 20)
  expect(journal.last?.fence).toBe(probe.visit.fence)
  toll.release()
  const { fence } = probe.visit
  const refusal = () =>
    fleet.tellings.find(({ report }) => report.kind === 'late' && report.fence === fence)?.report
  await bell.until('the end of the permit', () => journal.after(fence) ?? refusal())
  await expectOrder(scene)
  expect(refusal()).toMatchObject({ outcome: 'success' })
})

test('gives no live permit to an instance whose picture of the time runs ahead', async () => {
  await using scene = await newScene({ probeTimeoutMs: 2_000 })
  const { bell, dependency, fleet, journal, proxy } = scene
  const toll = new Toll(proxy, bell)
  const [early, holder] = await Promise.all([fleet.add(), fleet.add()])
  holder.send({ do: 'go' })
  await firstCalls(scene)

  dependency.weather = 'failing'
  const probe = await dependency.nextProbe()
  dependency.weather = 'healthy'
  // Its first question takes its time on the way there, and none on the way back: it
  // takes the answer to be half as old as that.
  const stopped = toll.stopAt('its first question', () => true)
  early.send({ do: 'go' })
  await stopped
  await moment(probe.visit.until - 500)
  toll.release()
  await bell.until('its claim', () => toll.swaps.some(isSwap('half-open', 'half-open')))
  probe.succeed()
  const { state } = await bell.until('the end of the permit', () => journal.after(probe.visit.fence))
  await expectOrder(scene)
  expect(state).toBe('closed')
})

test('does not trip a period on what was seen in an earlier one', async () => {
  await using scene = await newScene()
  const { bell, dependency, fleet, journal, proxy, deafness } = scene
  const toll = new Toll(proxy, bell)
  const [late, quick] = await Promise.all([fleet.add(), fleet.add()])
  late.send({ do: 'go' })
  await firstCalls(scene)

  const stopped = toll.stopAt('its trip', isSwap('closed', 'open'))
  const from = Date.now()
  dependency.weather = 'failing'
  await stopped
  quick.send({ do: 'go' })
  await bell.until('the trip of the other', () => journal.last?.state === 'open')
  dependency.weather = 'healthy'
  const recovered = await bell.until('a recovery', () => journal.last?.state === 'closed' && journal.last)
  toll.release()
  deafness.push({ instance: late.name, from, until: Date.now() + 200 })
  await expectOrder(scene)
  expect(journal.last).toEqual(recovered)
})

test('takes a verdict that is delivered again in a later recovery for what it is', async () => {
  await using scene = await newScene({ probeTimeoutMs: 5_000, storeTimeoutMs: 1_000 })
  const { bell, dependency, fleet, journal, proxy } = scene
  const toll = new Toll(proxy, bell)
  const isVerdict = isSwap('half-open', 'closed')
  const [first, second] = await Promise.all([fleet.add(), fleet.add()])
  first.send({ do: 'go' })
  await firstCalls(scene)

  dependency.weather = 'failing'
  const probe = await dependency.nextProbe()
  toll.loseReply(isVerdict)
  probe.succeed()
  await bell.until('its verdict', () => journal.last?.state === 'closed')
  // It lands, and the client, which has not heard of it, will send it again when it gets through.
  await proxy.cut()
  second.send({ do: 'go' })
  const later = await dependency.nextProbe()
  expect(later.visit.instance).toBe(second.name)
  await proxy.mend()
  await bell.until('the same verdict', () => toll.swaps.filter(isVerdict).length === 2)
  await scene.redis.command('PING')
  expect(journal.last?.fence).toBe(later.visit.fence)
  dependency.weather = 'healthy'
  later.fail()
  await bell.until('the verdict of the other', () => journal.after(later.visit.fence))
  await expectOrder(scene)
})

/** Resolves when the circuit is known, and closed. */
async function firstCalls({ bell, dependency, journal }: Scene): Promise<void> {
  await bell.until('first calls', () => dependency.visits.length >= 20)
  await journal.begin()
  expect(journal.last?.state).toBe('closed')
}

/** Resolves when it is so late by the clock of the machine, which is the store's too. */
async function moment(at: number): Promise<void> {
  await sleep(at - Date.now())
}

/** Everybody ends where the journal does, and nothing that the journal knows of breaks the promise. */
async function expectOrder(scene: Scene): Promise<void> {
  const finals = await scene.agreement()
  await scene.fleet.stop()
  expect(await scene.journal.gaps()).toEqual([])
  expect(judge(scene.history(finals))).toEqual([])
}
