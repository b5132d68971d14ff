import { setTimeout as sleep } from 'node:timers/promises'
import { memoryStore } from '@tidegate/core'
import { Dependency } from './dependency'
import type { Facts, Late, Move, Outage, Probe } from './facts'
import { type Instance, startInstance } from './instance'
import { type Answer, Load } from './load'
import { ROUND_MS, SPELLS, STRAGGLER } from './schedule'
import { type Colour, Story } from './story'

const NAMES = ['A', 'B', 'C']
const COLOURS: Readonly<Record<string, Colour>> = { open: 'red', closed: 'green', 'half-open': 'yellow' }

/** Plays the schedule once on fresh servers, and tells it. Ends early when the signal aborts. */
export async function playRound(random: () => number, signal: AbortSignal): Promise<Facts> {
  const dependency = new Dependency(random)
  const store = memoryStore()
  const url = await dependency.listen()
  const instances = await Promise.all(NAMES.map((name) => startInstance(name, store, url)))
  const start = performance.now()
  const story = new Story(start)
  const seen = { moves: [] as Move[], probes: [] as Probe[], late: [] as Late[], answers: [] as Answer[] }
  for (const instance of instances) {
    story.tell(`instance ${instance.name}`, `listens on ${instance.url}`)
    watch(instance, story, seen)
  }
  const loads = instances.map((instance) => new Load(instance, (answer) => seen.answers.push(answer)))
  for (const load of loads) load.start()

  const events = [
    ...SPELLS.map(({ at, weather, said }) => ({
      at,
      run: () => {
        dependency.weather = weather
        story.tell('dependency', said, weather === 'healthy' ? 'green' : 'red')
      },
    })),
    { at: STRAGGLER.at, run: () => loads[0]?.request('/report') },
    {
      at: STRAGGLER.failsAt,
      run: () => {
        story.tell('dependency', 'fails, at last, a call that it was sent before the first outage')
        dependency.failStragglers()
      },
    },
    { at: ROUND_MS, run: () => {} },
  ].toSorted((a, b) => a.at - b.at)
  try {
    for (const { at, run } of events) {
      await sleep(Math.max(0, start + at - performance.now()), undefined, { signal })
      run()
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  const finalStates = instances.map(({ payments }) => payments.state)
  for (const load of loads) load.stop()
  // The instances first: their calls end as calls whose callers left.
  await Promise.all(instances.map((instance) => instance.close()))
  dependency.close()
  const { arrivals, mostProbes } = dependency
  return { instances: NAMES, outages: outagesFrom(start), ...seen, arrivals, mostProbes, finalStates }
}

function watch(
  { name, payments }: Instance,
  story: Story,
  seen: { moves: Move[]; probes: Probe[]; late: Late[] },
): void {
  const who = `instance ${name}`
  payments.on('transition', ({ from, to, fence, by, counters }) => {
    seen.moves.push({ at: performance.now(), instance: name, from, to, fence, by })
    const { failures, successes } = counters
    const why = from === 'closed' && by === 'here' ? `  ${failures} of ${failures + successes} failed` : ''
    const whose = by === 'here' ? '' : '  (hears of it)'
    story.tell(who, `${to.padEnd(9)}  fence ${fence}${why}${whose}`, by === 'here' ? COLOURS[to] : 'dim')
  })
  payments.on('probe', ({ fence }) => {
    seen.probes.push({ at: performance.now(), instance: name, fence })
    story.tell(who, `PROBES     fence ${fence}`, 'yellow')
  })
  payments.on('late', ({ fence, outcome }) => {
    seen.late.push({ at: performance.now(), instance: name, fence })
    // Of the calls that were on their way when the circuit opened there are many; the summary counts them.
    if (payments.state === 'closed')
      story.tell(who, `LATE       fence ${fence}  a ${outcome}: counts for nothing`)
  })
}

function outagesFrom(start: number): Outage[] {
  return SPELLS.flatMap(({ at, weather }, index) => {
    const end = SPELLS[index + 1]?.at ?? ROUND_MS
    return weather === 'healthy' ? [] : [{ from: start + at, to: start + end, weather }]
  })
}
