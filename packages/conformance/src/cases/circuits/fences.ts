import { fenceDigits, fenceNonce, isFence } from '@tidegate/contract'
import { holds, matches, same } from '../../assertion'
import type { Bench } from '../../bench'
import { type Group, test } from '../../case'

export const fences: Group = {
  title: 'A fence names one period for all time',
  cases: [
    test('creates an absent circuit closed, under a fence that nobody won', [], async (bench) => {
      const created = await bench.party().read({ nonce: 'who-came-by' })
      matches(created, { state: 'closed', trips: 0, probeSuccesses: 0, probe: undefined }, 'the new circuit')
      holds(isFence(created.fence), 'the fence has the form of one')
      same(fenceNonce(created.fence), '~who-came-by', 'the nonce in the fence')
    }),
    test('creates one circuit for all who come by at once', [], async (bench) => {
      const parties = Array.from({ length: 8 }, () => bench.party())
      const fences = new Set(
        (await Promise.all(parties.map((party) => party.read()))).map(({ fence }) => fence),
      )
      same(fences.size, 1, 'the circuits created')
      holds(fences.has((await bench.party().read()).fence), 'it is the one that is read afterwards')
    }),
    test('mints from its clock in microseconds', [], async (bench) => {
      const { fence, now } = await bench.party().read()
      holds(Math.abs(fenceDigits(fence) / 1000 - now) < 60_000, 'the digits are the moment, in microseconds')
    }),
    test('keeps the fence while nothing is swapped', [], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const { fence } = await a.read()
      await b.record(fence, { failures: 3 })
      await b.swap('open', 'closed', fence)
      same((await b.read()).fence, fence, 'the fence')
    }),
    test('mints a greater fence with each swap, with the nonce that won it', [], async (bench) => {
      const party = bench.party()
      let { fence } = await party.read()
      for (let swap = 0; swap < 20; swap++) {
        const nonce = `${bench.name}-${swap}`
        const { ok, snapshot } = await party.swap('closed', 'closed', fence, { nonce })
        holds(ok, 'a reset under the present fence lands')
        holds(isFence(snapshot.fence) && snapshot.fence > fence, `${snapshot.fence} comes after ${fence}`)
        same(fenceNonce(snapshot.fence), nonce, 'the nonce in the fence')
        fence = snapshot.fence
      }
    }),
    test('refuses a swap under an old fence', [], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const { fence } = await a.read()
      const reset = await b.swap('closed', 'closed', fence)
      const { ok, snapshot } = await a.swap('closed', 'open', fence)
      same(ok, false, 'the swap under the old fence')
      matches(snapshot, { state: 'closed', fence: reset.snapshot.fence }, 'what beat the caller')
    }),
    test('refuses a swap from a state that is not the present one', [], async (bench) => {
      const party = bench.party()
      const { fence } = await bench.opened(party)
      const { ok, snapshot } = await party.swap('closed', 'isolated', fence)
      same(ok, false, 'the swap from closed')
      matches(snapshot, { state: 'open', fence }, 'what beat the caller')
    }),
    test('takes no fence that is not one', [], async (bench) => {
      const party = bench.party()
      const { fence } = await party.read()
      for (const wrong of ['', 'local:1', '0', `${fence}|`, `${fence}\n`, fence.slice(1)]) {
        const landed = await party.swap('closed', 'open', wrong).then(
          ({ ok }) => ok,
          () => false,
        )
        same(landed, false, `the swap under ${JSON.stringify(wrong)}`)
      }
      matches(await party.read(), { state: 'closed', fence }, 'the circuit')
    }),
    test('mints later fences after the circuit was forgotten', [], (bench) =>
      outlives(bench, 'rising', async () => {
        await bench.store.circuits.forget(bench.name)
      }),
    ),
    test('mints later fences after the circuit expired', ['expire'], (bench) =>
      outlives(bench, 'rising', async () => {
        await bench.hook('expire')(bench.name, bench.store)
      }),
    ),
    test('mints later fences after everything was flushed', ['flush'], (bench) =>
      outlives(bench, 'rising', async () => {
        await bench.hook('flush')(bench.store)
      }),
    ),
    test('mints no fence twice after its clock was set back and the circuit lost', ['stepClock'], (bench) =>
      outlives(bench, 'new', async () => {
        await bench.hook('stepClock')(-3_600_000, bench.store)
        await bench.store.circuits.forget(bench.name)
      }),
    ),
    test('mints rising fences while its clock is set back', ['stepClock'], async (bench) => {
      const party = bench.party()
      const before = await party.read()
      await bench.hook('stepClock')(-60_000, bench.store)
      const { ok, snapshot } = await party.swap('closed', 'closed', before.fence)
      holds(ok && snapshot.fence > before.fence, `${snapshot.fence} comes after ${before.fence}`)
    }),
    test('refuses what was decided on writes that a failover lost', ['loseWrites'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const { fence } = await a.read()
      let lost = ''
      await bench.hook('loseWrites')(async () => {
        lost = (await a.swap('closed', 'open', fence)).snapshot.fence
      }, bench.store)
      matches(await b.read(), { state: 'closed', fence }, 'the circuit after the failover')
      const won = await b.swap('closed', 'open', fence)
      holds(won.ok && won.snapshot.fence !== lost, 'another period has another fence')
      same((await a.swap('open', 'isolated', lost)).ok, false, 'the swap under the lost fence')
      same((await a.record(lost, { failures: 1 })).counted, false, 'the tally under the lost fence')
    }),
  ],
}

/** Whatever ended the circuit: what comes after it has a fence of its own, and knows none from before. */
async function outlives(bench: Bench, order: 'rising' | 'new', end: () => Promise<void>): Promise<void> {
  const party = bench.party()
  const seen: string[] = []
  const isNext = (fence: string): void => {
    const last = seen.at(-1)
    if (order === 'rising' && last !== undefined) holds(fence > last, `${fence} comes after ${last}`)
    holds(!seen.includes(fence), `${fence} is new`)
    seen.push(fence)
  }
  for (let life = 0; life < 3; life++) {
    const created = await party.read()
    isNext(created.fence)
    const { ok, snapshot } = await party.swap('closed', 'open', created.fence)
    same(ok, true, 'a swap under the present fence')
    isNext(snapshot.fence)
    await end()
    const late = await party.swap('open', 'isolated', snapshot.fence)
    same(late.ok, false, 'a swap decided before the end')
    same(late.snapshot.state, 'closed', 'the state after the end')
    isNext(late.snapshot.fence)
    same((await party.record(created.fence, { failures: 1 })).counted, false, 'a tally from before the end')
    await end()
  }
}
