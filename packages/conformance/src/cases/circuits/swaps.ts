import { type CircuitState, SWAPS } from '@tidegate/contract'
import { holds, matches, same } from '../../assertion'
import type { Bench } from '../../bench'
import { type Case, type Group, type Need, test } from '../../case'
import type { Party } from '../../party'

const STATES = Object.keys(SWAPS) as CircuitState[]

export const swaps: Group = {
  title: 'Swaps land where the table has them, and nowhere else',
  cases: STATES.flatMap((from) =>
    STATES.map((to) => (SWAPS[from].includes(to) ? lands(from, to) : refuses(from, to))),
  ),
}

function lands(from: CircuitState, to: CircuitState): Case {
  return test(`lands ${from} -> ${to}`, needs(from, to), async (bench) => {
    const party = bench.party()
    const fence = await reach(bench, party, from)
    const { ok, snapshot } = await party.swap(from, to, fence)
    holds(ok, `${from} -> ${to}`)
    same(snapshot.state, to, 'the state')
    holds(snapshot.fence > fence, 'the fence is a later one')
    matches(await party.read(), { state: to, fence: snapshot.fence }, 'what is read afterwards')
  })
}

function refuses(from: CircuitState, to: CircuitState): Case {
  return test(`refuses ${from} -> ${to}`, needs(from, to), async (bench) => {
    const party = bench.party()
    const fence = await reach(bench, party, from)
    const { ok, snapshot } = await party.swap(from, to, fence)
    same(ok, false, `${from} -> ${to}`)
    matches(snapshot, { state: from, fence }, 'what beat the caller')
  })
}

function needs(from: CircuitState, to: CircuitState): readonly Need[] {
  return from === 'half-open' || (from === 'open' && to === 'half-open') ? ['advance'] : []
}

/** Where every swap from here that the table has is allowed. */
async function reach(bench: Bench, party: Party, state: CircuitState): Promise<string> {
  switch (state) {
    case 'closed':
      return (await party.read()).fence
    case 'open': {
      const { fence } = await bench.opened(party, { cooldownMs: 1 })
      if (bench.has('advance')) await bench.advance(1)
      return fence
    }
    case 'half-open':
      return (await bench.yielded(party)).fence
    case 'isolated':
      return (await bench.isolated(party)).fence
  }
}
