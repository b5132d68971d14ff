import { setTimeout as sleep } from 'node:timers/promises'
import { Dependency } from './dependency'
import type { Facts, Outage } from './facts'
import type { StartFleet } from './fleet'
import { Load } from './load'
import { moment } from './moment'
import { ROUND_MS, SPELLS, STRAGGLER, type Weather } from './schedule'
import { Story } from './story'
import { type Seen, watch } from './watch'

const NAMES = ['A', 'B', 'C']

/** Plays the schedule once on fresh servers, and tells it. Ends early when the signal aborts. */
export async function playRound(
  startFleet: StartFleet,
  random: () => number,
  signal: AbortSignal,
): Promise<Facts> {
  const dependency = new Dependency(random)
  const url = await dependency.listen()
  const instances = await startFleet(NAMES, url)
  const seen: Seen = { moves: [], probes: [], late: [], answers: [] }
  const loads = instances.map((instance) => new Load(instance, (answer) => seen.answers.push(answer)))
  await Promise.all(loads.map((load) => load.warmUp()))
  const start = moment()
  const story = new Story(start)
  for (const instance of instances) {
    story.tell(`instance ${instance.name}`, `listens on ${instance.url}`)
    watch(instance, story, seen)
  }
  for (const load of loads) load.start()

  // When it was, and not when it was to be: a timer may come late, and up to a millisecond early.
  const changes: { at: number; weather: Weather }[] = []
  let stragglerFailedAt = Number.POSITIVE_INFINITY
  const events = [
    ...SPELLS.map(({ at, weather, said }) => ({
      at,
      run: () => {
        dependency.weather = weather
        changes.push({ at: moment(), weather })
        story.tell('dependency', said, weather === 'healthy' ? 'green' : 'red')
      },
    })),
    // The outage waits for it to be there; and not for ever, should it have been refused on the way.
    {
      at: STRAGGLER.at,
      run: () => Promise.race([loads[0]?.request('/report'), dependency.hasStraggler]),
    },
    {
      at: STRAGGLER.failsAt,
      run: () => {
        story.tell('dependency', 'fails, at last, a call that it was sent before the first outage')
        stragglerFailedAt = moment()
        dependency.failStragglers()
      },
    },
    { at: ROUND_MS, run: () => {} },
  ].toSorted((a, b) => a.at - b.at)
  try {
    for (const { at, run } of events) {
      await sleep(Math.max(0, start + at - moment()), undefined, { signal })
      await run()
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  const finalStates = NAMES.map(
    (name) => seen.moves.findLast(({ instance }) => instance === name)?.to ?? 'closed',
  )
  const outages = outagesIn(changes, moment())
  for (const load of loads) load.stop()
  // The instances first: their calls end as calls whose callers left.
  await Promise.all(instances.map((instance) => instance.close()))
  dependency.close()
  const { arrivals, mostProbes } = dependency
  return { instances: NAMES, outages, stragglerFailedAt, ...seen, arrivals, mostProbes, finalStates }
}

function outagesIn(changes: readonly { at: number; weather: Weather }[], end: number): Outage[] {
  return changes.flatMap(({ at, weather }, index) =>
    weather === 'healthy' ? [] : [{ from: at, to: changes[index + 1]?.at ?? end, weather }],
  )
}
