import { expect, test } from 'vitest'
import { countsOf } from './counts'
import { judge } from './judge'
import { type Outage, outagesOf } from './outage'
import { Player } from './player'
import { Random } from './random'
import { type Plan, type Scene, startScene } from './scene'

const INSTANCES = 8
const OUTAGES = process.env.TIDEGATE_LONG === undefined ? 12 : 100

/** The same seed, the same outages. When a process gets its turn no seed determines. */
const SEED = Number(process.env.TIDEGATE_SEED ?? Math.floor(Math.random() * 2 ** 32))

const plan: Plan = {
  breaker: {
    name: 'payments',
    failureRate: 0.5,
    minimumCalls: 20,
    windowMs: 2_000,
    cooldownMs: 250,
    cooldownJitter: 0,
    // Outages follow each other too closely for the fleet to forget that there was one before.
    cooldownBackoff: { factor: 1, maxMs: 250 },
    probeTimeoutMs: 200,
    successThreshold: 2,
    syncMs: 50,
    storeTimeoutMs: 250,
    whenStoreDown: 'hold',
  },
  personality: (number) => ({
    callers: 50,
    thinkMs: [150, 250],
    deadlineMs: 500,
    heedsSignal: number % 4 < 2,
    seed: SEED + number,
  }),
  isBehindProxy: (number) => number % 2 === 1,
}

test(
  `holds what it promises through ${OUTAGES} outages, with probes that succeed, fail, hang, die, freeze and are left`,
  async () => {
    console.log(`outages: TIDEGATE_SEED=${SEED}`)
    await using scene = await startScene(plan)
    const random = new Random(SEED)
    const player = new Player(scene, random)
    await begin(scene, player)
    for (const outage of outagesOf(random, OUTAGES)) await playTold(player, outage)

    const finals = await scene.agreement()
    await scene.fleet.stop()
    const history = scene.history(finals)
    const { killed, frozen } = player
    const counts = countsOf(history)
    console.log(lines({ outages: OUTAGES, killed, frozen, ...counts }))
    expect(await scene.journal.gaps()).toEqual([])
    expect(judge(history)).toEqual([])
    expect(counts['most permits live at once']).toBe(1)
  },
  60_000 + OUTAGES * 15_000,
)

/** Resolves when the whole fleet makes calls, and the circuit is closed. */
async function begin({ fleet, bell, dependency, journal, agreement }: Scene, player: Player): Promise<void> {
  await Promise.all(Array.from({ length: INSTANCES }, () => fleet.add()))
  fleet.tell({ do: 'go' })
  await bell.until('a first call', () => dependency.visits.length > 0)
  await journal.begin()
  await agreement()
  await player.healthyCalls()
}

async function playTold(player: Player, outage: Outage): Promise<void> {
  try {
    await player.play(outage)
  } catch (error) {
    throw new Error(`in ${JSON.stringify(outage)} of TIDEGATE_SEED=${SEED}`, { cause: error })
  }
}

function lines(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([what, count]) => `  ${String(count).padStart(7)} ${what}`)
    .join('\n')
}
