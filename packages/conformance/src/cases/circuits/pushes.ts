import type { CircuitSnapshot, Unsubscribe } from '@tidegate/contract'
import { holds, matches, same } from '../../assertion'
import type { Bench } from '../../bench'
import { type Group, test } from '../../case'

export const pushes: Group = {
  title: 'Push',
  cases: [
    test('tells of a swap that landed, with what holds since', ['push'], async (bench) => {
      const party = bench.party()
      const heard = await listen(bench)
      const snapshot = await bench.opened(party)
      await bench.eventually(() => heard.has(snapshot.fence), 'the trip is heard of')
      const { state, fence, openedAt, probeAfter, trips } = snapshot
      matches(heard.last() ?? {}, { state, fence, openedAt, probeAfter, trips }, 'what is heard')
      heard.stop()
    }),
    test('tells of what another process swapped', ['push', 'peer'], async (bench) => {
      const [, there] = [bench.party(), bench.party()]
      const heard = await listen(bench)
      const { fence } = await bench.opened(there)
      await bench.eventually(() => heard.has(fence), 'the trip is heard of')
      heard.stop()
    }),
    test('tells nothing of what did not land, or belongs to another circuit', ['push'], async (bench) => {
      const [here, there] = [bench.party(), bench.party(`${bench.name}-2`)]
      const heard = await listen(bench)
      const { fence } = await here.read()
      await here.swap('open', 'closed', fence)
      await bench.opened(there)
      const { snapshot } = await here.swap('closed', 'closed', fence)
      await bench.eventually(() => heard.has(snapshot.fence), 'the reset is heard of')
      same(heard.count(), 1, 'the swaps heard of')
      heard.stop()
      await there.circuits.forget(there.name)
    }),
    test(
      'tells nothing any more to who unsubscribed, and goes on telling the others',
      ['push'],
      async (bench) => {
        const party = bench.party()
        const [left, stays] = [await listen(bench), await listen(bench)]
        const opened = await bench.opened(party)
        await bench.eventually(
          () => left.has(opened.fence) && stays.has(opened.fence),
          'both hear of the trip',
        )
        left.stop()
        left.stop()
        const { snapshot } = await party.swap('open', 'closed', opened.fence)
        await bench.eventually(() => stays.has(snapshot.fence), 'the one who stays hears of the next swap')
        holds(!left.has(snapshot.fence), 'the one who left hears nothing')
        stays.stop()
      },
    ),
    test('lands the swap and tells the others though a listener throws', ['push'], async (bench) => {
      const party = bench.party()
      const angry = subscribe(bench, () => {
        throw new Error('a listener of the conformance suite throws, on purpose')
      })
      const heard = await listen(bench)
      const { fence } = await bench.opened(party)
      await bench.eventually(() => heard.has(fence), 'the other listener hears of the trip')
      angry()
      heard.stop()
    }),
  ],
}

interface Heard {
  has(fence: string): boolean
  count(): number
  last(): CircuitSnapshot | undefined
  stop(): void
}

/** Listens, and comes back once it is known to hear: a subscription to a server takes its time. */
async function listen(bench: Bench): Promise<Heard> {
  const snapshots: CircuitSnapshot[] = []
  const stop = subscribe(bench, (snapshot) => snapshots.push(snapshot))
  const party = bench.party()
  const knock = async (): Promise<void> => {
    const { fence } = await party.read()
    await party.swap('closed', 'closed', fence)
  }
  await knock()
  await bench.eventually(() => snapshots.length > 0, 'a reset is heard of', knock)
  const { fence } = await party.read()
  await bench.eventually(() => snapshots.some((one) => one.fence === fence), 'the last reset is heard of')
  const before = snapshots.length
  return {
    has: (wanted) => snapshots.slice(before).some((one) => one.fence === wanted),
    count: () => snapshots.length - before,
    last: () => snapshots.at(-1),
    stop,
  }
}

function subscribe(bench: Bench, listener: (snapshot: CircuitSnapshot) => void): Unsubscribe {
  const stop = bench.store.circuits.subscribe?.(bench.name, listener)
  if (stop === undefined) throw new Error('the store declares push and has no subscribe')
  return stop
}
