import type { CircuitState, RecordAnswer, SwapAnswer, Tally, Terms } from '@tidegate/contract'
import { ConformanceError, matches, same } from '../../assertion'
import type { Bench } from '../../bench'
import { type Group, test } from '../../case'
import { Model } from '../../model'
import type { Party } from '../../party'
import type { Random } from '../../random'
import { seeded } from '../../seeded'

const STATES: readonly CircuitState[] = ['closed', 'open', 'half-open', 'isolated']

export const interleavings: Group = {
  title: 'Whatever the order',
  cases: [
    test('lands one of many claims of a circuit whose cooldown is over', ['advance'], async (bench) => {
      const { fence } = await bench.cooled(bench.party())
      await race(bench, (party) => party.swap('open', 'half-open', fence))
    }),
    test('lands one of many claims of a permit whose lease ran out', ['advance'], async (bench) => {
      const { fence } = await bench.probing(bench.party(), { leaseMs: bench.tickMs })
      await bench.advance(1.5)
      await race(bench, (party) => party.swap('half-open', 'half-open', fence))
    }),
    test('lands one of many trips', [], async (bench) => {
      const { fence } = await bench.party().read()
      await race(bench, (party) => party.swap('closed', 'open', fence))
    }),
    test('lands one of two verdicts under a fence', ['advance'], async (bench) => {
      const { fence } = await bench.probing(bench.party())
      await race(bench, (party, index) => party.swap('half-open', index % 2 ? 'open' : 'closed', fence))
    }),
    test('keeps to the contract in random orders, repeats among them', ['advance'], (bench) =>
      seeded(bench, (random) => oneAfterAnother(bench, random)),
    ),
    test('lands at most one of whatever is decided on a fence at once', ['advance'], (bench) =>
      seeded(bench, (random) => allAtOnce(bench, random)),
    ),
  ],
}

async function race(
  bench: Bench,
  attempt: (party: Party, index: number) => Promise<SwapAnswer>,
): Promise<void> {
  const parties = Array.from({ length: 16 }, () => bench.party())
  const answers = await Promise.all(parties.map(attempt))
  const winners = answers.filter(({ ok }) => ok)
  same(winners.length, 1, 'the swaps that landed')
  const landed = (winners[0] as SwapAnswer).snapshot
  const present = await (parties[0] as Party).read()
  matches(present, { state: landed.state, fence: landed.fence }, 'the circuit afterwards')
  same(present.probe?.owner, landed.probe?.owner, 'the owner afterwards')
  for (const { ok, snapshot } of answers) if (!ok) same(snapshot.fence, landed.fence, 'what beat a loser')
}

/** What an instance sent last, and may be delivered again. */
interface Sent {
  swap?: { deliver: () => Promise<SwapAnswer>; landed: string | undefined }
  record?: { deliver: () => Promise<RecordAnswer>; counted: string | undefined }
}

/** Where half-open is the likeliest by far: it is where most can go wrong, and ends with any other swap. */
const WAYS: Readonly<Record<CircuitState, readonly CircuitState[]>> = {
  closed: ['open', 'open', 'open', 'closed', 'isolated'],
  open: [...new Array<CircuitState>(8).fill('half-open'), 'closed', 'isolated'],
  'half-open': [...new Array<CircuitState>(12).fill('half-open'), 'open', 'closed', 'isolated'],
  isolated: ['closed'],
}

const STEPS = 300

async function oneAfterAnother(bench: Bench, random: Random): Promise<void> {
  const parties = [bench.party(), bench.party(), bench.party()]
  const sent = new Map<Party, Sent>(parties.map((party) => [party, {}]))
  const model = new Model(await (parties[0] as Party).read())
  const hasTime = bench.supports().windows.includes('time')
  for (let step = 0; step < STEPS; step++) {
    const party = random.pick(parties)
    const last = sent.get(party) as Sent
    const dice = random.next()
    if (dice < 0.1) await bench.advance(0.3 + random.next())
    else if (dice < 0.15) model.check(await party.read())
    else if (dice < 0.16) await endSomehow(bench, random, party, last, model)
    else if (dice < 0.55) last.swap = await swapSomehow(bench, random, party, model)
    else if (dice < 0.7) last.record = await recordSomehow(random, party, model, hasTime)
    else if (dice < 0.88 && last.swap) {
      const { ok, snapshot } = await last.swap.deliver()
      same(ok, last.swap.landed === model.fence, 'a swap delivered again')
      model.check(snapshot)
    } else if (last.record) {
      const { counted, snapshot, counters } = await last.record.deliver()
      same(counted, last.record.counted === model.fence, 'a tally delivered again')
      model.check(snapshot)
      model.checkCounters(counters, hasTime)
    }
  }
}

/** Ends the circuit. What was decided on it may be the first thing that comes after. */
async function endSomehow(
  bench: Bench,
  random: Random,
  party: Party,
  last: Sent,
  model: Model,
): Promise<void> {
  const ends: (() => unknown)[] = [() => bench.store.circuits.forget(bench.name)]
  if (bench.has('expire')) ends.push(() => bench.hook('expire')(bench.name, bench.store))
  if (bench.has('flush')) ends.push(() => bench.hook('flush')(bench.store))
  await random.pick(ends)()
  if (last.swap && random.chance(0.5)) {
    const { ok, snapshot } = await last.swap.deliver()
    same(ok, false, 'a swap decided before the circuit ended')
    model.create(snapshot)
  } else model.create(await party.read())
}

async function swapSomehow(
  bench: Bench,
  random: Random,
  party: Party,
  model: Model,
): Promise<NonNullable<Sent['swap']>> {
  // Mostly what could land: chance alone would hardly ever get beyond a refusal.
  const from = random.chance(0.9) ? model.state : random.pick(STATES)
  const to = random.chance(0.9) ? random.pick(WAYS[from]) : random.pick(STATES)
  const fence = random.chance(0.8) ? model.fence : random.pick(model.fences)
  const terms = party.terms({
    cooldownMs: Math.ceil(bench.tickMs * (0.2 + random.next())),
    leaseMs: Math.ceil(bench.tickMs * (0.2 + 2 * random.next())),
    owner: random.chance(0.3) ? (model.owner ?? party.id) : party.id,
    ...(random.chance(0.1) ? { deadline: model.past } : {}),
    ...(random.chance(0.4) ? { yield: true } : {}),
    ...(random.chance(0.5) ? { succeeded: true } : {}),
  })
  const deliver = party.prepareSwap(from, to, fence, meant(from, to, terms))
  const before = model.fence
  const { ok, snapshot } = await deliver()
  const allowed = model.allows(from, to, fence, meant(from, to, terms), snapshot.now)
  if (allowed !== 'either')
    same(ok, allowed, `${from} -> ${to}${fence === before ? '' : ' under an old fence'}`)
  if (ok) model.land(to, meant(from, to, terms), snapshot)
  else model.check(snapshot)
  return { deliver, landed: ok ? snapshot.fence : undefined }
}

/** Only who goes to half-open has an owner, and only who is there has something to yield. */
function meant(from: CircuitState, to: CircuitState, all: Terms): Terms {
  const { owner, yield: gives, succeeded, ...terms } = all
  if (to !== 'half-open' || owner === undefined) return terms
  if (!gives || from !== 'half-open') return { ...terms, owner }
  return { ...terms, owner, yield: true, ...(succeeded ? { succeeded } : {}) }
}

async function recordSomehow(
  random: Random,
  party: Party,
  model: Model,
  hasTime: boolean,
): Promise<NonNullable<Sent['record']>> {
  const fence = random.chance(0.8) ? model.fence : random.pick(model.fences)
  const [successes, failures] = [random.below(3), random.below(4)]
  const trailingFailures = successes === 0 ? failures : random.below(failures + 1)
  const tally: Omit<Tally, 'seq'> = {
    successes,
    failures,
    slow: random.below(successes + failures + 1),
    trailingFailures,
  }
  const isLate = random.chance(0.1)
  const deliver = party.prepareRecord(fence, tally, isLate ? { deadline: model.past } : {})
  const { counted, snapshot, counters } = await deliver()
  same(counted, fence === model.fence && !isLate, 'whether a tally is counted')
  if (counted) model.count({ seq: 0, ...tally })
  model.check(snapshot)
  model.checkCounters(counters, hasTime)
  return { deliver, counted: counted ? fence : undefined }
}

const ROUNDS = 30

async function allAtOnce(bench: Bench, random: Random): Promise<void> {
  const parties = Array.from({ length: 6 }, () => bench.party())
  const watcher = bench.party()
  const seen = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const before = await watcher.read()
    seen.add(before.fence)
    const answers = await Promise.all(
      parties.flatMap((party) => {
        const to = random.pick(STATES)
        const over = {
          cooldownMs: Math.ceil(bench.tickMs / 2),
          leaseMs: Math.ceil(bench.tickMs / 2),
          ...(to === 'half-open' && before.state === 'half-open' && random.chance(0.3)
            ? { owner: before.probe?.owner ?? party.id, yield: true as const }
            : {}),
        }
        const deliver = party.prepareSwap(before.state, to, before.fence, over)
        const record = party.record(before.fence, { failures: 1 }).then(({ counted, snapshot }) => {
          same(
            counted,
            snapshot.fence === before.fence,
            'whether a tally is counted, by the fence that answers it',
          )
        })
        return [deliver(), deliver(), record.then(() => undefined)]
      }),
    )
    const landed = new Set(answers.flatMap((answer) => (answer?.ok ? [answer.snapshot.fence] : [])))
    if (landed.size > 1) throw new ConformanceError('periods begun on one fence', 1, landed.size)
    const after = await watcher.read()
    same(after.fence, [...landed][0] ?? before.fence, 'the fence afterwards')
    if (landed.size > 0 && seen.has(after.fence))
      throw new ConformanceError('the fence', 'a new one', after.fence)
    if (after.probe && landed.size > 0) same(after.state, 'half-open', 'the state while a permit is out')
    if (random.chance(0.4)) await bench.advance(1)
  }
}
