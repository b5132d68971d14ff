import { holds, matches, same } from '../../assertion'
import { type Group, test } from '../../case'

const giveBack = { yield: true } as const

export const permits: Group = {
  title: 'One permit, and it belongs to its fence',
  cases: [
    test('refuses a probe before probeAfter', ['advance'], async (bench) => {
      const party = bench.party()
      const opened = await bench.opened(party, { cooldownMs: 3 * bench.tickMs })
      await bench.advance(1)
      const { ok, snapshot } = await party.swap('open', 'half-open', opened.fence)
      same(ok, false, 'the early probe')
      matches(snapshot, { state: 'open', fence: opened.fence, probeAfter: opened.probeAfter }, 'the circuit')
    }),
    test(
      'refuses a probe before probeAfter though the prober brings a shorter cooldown',
      ['advance'],
      async (bench) => {
        const party = bench.party()
        const { fence } = await bench.opened(party)
        await bench.advance(1)
        same((await party.swap('open', 'half-open', fence, { cooldownMs: 1 })).ok, false, 'the early probe')
      },
    ),
    test('lends the permit to the one who asks from probeAfter on', ['advance'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const { fence } = await bench.cooled(a)
      const { ok, snapshot } = await b.swap('open', 'half-open', fence, { owner: 'the prober' })
      holds(ok, 'the probe')
      matches(snapshot, { state: 'half-open', probeSuccesses: 0 }, 'the circuit')
      same(snapshot.probe?.owner, 'the prober', 'the owner')
    }),
    test('refuses a claim while the permit is out', ['advance'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const probing = await bench.probing(a)
      const { ok, snapshot } = await b.swap('half-open', 'half-open', probing.fence)
      same(ok, false, 'the claim')
      matches(snapshot, { state: 'half-open', fence: probing.fence }, 'the circuit')
      same(snapshot.probe?.owner, a.id, 'the owner')
    }),
    test('lends the permit again once its lease ran out', ['advance'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const probing = await bench.probing(a, { leaseMs: bench.tickMs })
      await bench.advance(1.5)
      const { ok, snapshot } = await b.swap('half-open', 'half-open', probing.fence)
      holds(ok && snapshot.fence > probing.fence, 'the claim lands, under a fence of its own')
      same(snapshot.probe?.owner, b.id, 'the owner')
    }),
    test('frees the permit that its owner yields', ['advance'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const probing = await bench.probing(a)
      const free = await a.swap('half-open', 'half-open', probing.fence, giveBack)
      holds(free.ok && free.snapshot.fence > probing.fence, 'the yield lands, under a fence of its own')
      matches(free.snapshot, { state: 'half-open', probe: undefined, probeSuccesses: 0 }, 'the circuit')
      const claim = await b.swap('half-open', 'half-open', free.snapshot.fence)
      same(claim.snapshot.probe?.owner, b.id, 'the next owner')
    }),
    test('refuses a yield of a permit that is another’s', ['advance'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const probing = await bench.probing(a)
      const { ok, snapshot } = await b.swap('half-open', 'half-open', probing.fence, giveBack)
      same(ok, false, 'the yield')
      same(snapshot.probe?.owner, a.id, 'the owner')
    }),
    test('refuses a yield of a permit that lies free', ['advance'], async (bench) => {
      const party = bench.party()
      const { fence } = await bench.yielded(party)
      same((await party.swap('half-open', 'half-open', fence, giveBack)).ok, false, 'the second yield')
    }),
    test('counts the probes that succeeded, and no others', ['advance'], async (bench) => {
      const party = bench.party()
      let { fence } = await bench.probing(party)
      let expected = 0
      for (const succeeded of [true, false, true]) {
        const over = succeeded ? { ...giveBack, succeeded } : giveBack
        const free = await party.swap('half-open', 'half-open', fence, over)
        expected += succeeded ? 1 : 0
        same(free.snapshot.probeSuccesses, expected, 'probeSuccesses after a yield')
        const claim = await party.swap('half-open', 'half-open', free.snapshot.fence)
        same(claim.snapshot.probeSuccesses, expected, 'probeSuccesses after a claim')
        fence = claim.snapshot.fence
      }
    }),
    test('begins each recovery with no probe succeeded', ['advance'], async (bench) => {
      const party = bench.party()
      const free = await bench.yielded(party, { succeeded: true })
      same(free.probeSuccesses, 1, 'probeSuccesses in the first recovery')
      const again = await party.swap('half-open', 'open', free.fence, { cooldownMs: bench.tickMs })
      same(again.snapshot.probeSuccesses, 0, 'probeSuccesses while open')
      await bench.advance(1.5)
      const second = await party.swap('open', 'half-open', again.snapshot.fence)
      same(second.snapshot.probeSuccesses, 0, 'probeSuccesses in the second recovery')
    }),
    test('lets a late success close nothing that came after', ['advance'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const first = await bench.probing(a, { leaseMs: bench.tickMs })
      await bench.advance(1.5)
      const second = await b.swap('half-open', 'half-open', first.fence)
      const late = await a.swap('half-open', 'closed', first.fence)
      same(late.ok, false, 'the late success')
      matches(late.snapshot, { state: 'half-open', fence: second.snapshot.fence }, 'what beat it')
      holds((await b.swap('half-open', 'closed', second.snapshot.fence)).ok, 'the verdict of the holder')
    }),
    test('lets a late failure open nothing that came after', ['advance'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const first = await bench.probing(a, { leaseMs: bench.tickMs })
      await bench.advance(1.5)
      const second = await b.swap('half-open', 'half-open', first.fence)
      const closed = await b.swap('half-open', 'closed', second.snapshot.fence)
      const late = await a.swap('half-open', 'open', first.fence)
      same(late.ok, false, 'the late failure')
      matches(late.snapshot, { state: 'closed', fence: closed.snapshot.fence }, 'what beat it')
    }),
    test('lets a late yield free nothing of the next holder', ['advance'], async (bench) => {
      const [a, b] = [bench.party(), bench.party()]
      const first = await bench.probing(a, { leaseMs: bench.tickMs })
      await bench.advance(1.5)
      await b.swap('half-open', 'half-open', first.fence)
      const late = await a.swap('half-open', 'half-open', first.fence, { ...giveBack, succeeded: true })
      same(late.ok, false, 'the late yield')
      same(late.snapshot.probe?.owner, b.id, 'the owner')
    }),
    test(
      'takes the verdict of an owner whose lease ran out while nobody claimed',
      ['advance'],
      async (bench) => {
        const party = bench.party()
        const { fence } = await bench.probing(party, { leaseMs: bench.tickMs })
        await bench.advance(1.5)
        holds((await party.swap('half-open', 'closed', fence)).ok, 'the verdict')
      },
    ),
    test('lets nobody trip a circuit that is open, and move its cooldown', ['advance'], async (bench) => {
      const party = bench.party()
      const opened = await bench.opened(party)
      await bench.advance(1)
      same((await party.swap('open', 'open', opened.fence)).ok, false, 'the second trip')
      matches(await party.read(), { probeAfter: opened.probeAfter, trips: 1 }, 'the circuit')
    }),
  ],
}
