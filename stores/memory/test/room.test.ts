import { describe, expect, it } from 'vitest'
import { memoryStore } from '../src'
import { bring, circuitsOf, type PromptCircuits, tally, terms } from './support/caller'
import { handClock } from './support/clock'
import { heapInUse } from './support/heap'

describe('a full store', () => {
  it('lets the least recently touched closed circuit go', () => {
    const circuits = circuitsOf(memoryStore({ maxKeys: 3 }))
    const fences = ['a', 'b', 'c'].map((name) => circuits.readState(name, terms()).fence)
    circuits.readState('a', terms())
    circuits.readState('d', terms())
    expect(circuits.readState('a', terms()).fence).toBe(fences[0])
    expect(circuits.readState('c', terms()).fence).toBe(fences[2])
    expect(circuits.readState('b', terms()).fence).not.toBe(fences[1])
  })

  it('never lets an open, a half-open or an isolated circuit go', () => {
    const clock = handClock()
    const circuits = circuitsOf(memoryStore({ maxKeys: 4, clock }))
    const [open, opened, isolated] = [
      bring(circuits, 'open', 'open'),
      bring(circuits, 'half-open', 'open'),
      bring(circuits, 'isolated', 'isolated'),
    ]
    clock.advance(1_000)
    const probe = terms({ owner: 'prober', leaseMs: 60_000 })
    const halfOpen = circuits.compareAndSet('half-open', 'open', 'half-open', opened.fence, probe).snapshot
    for (let index = 0; index < 100; index++) circuits.readState(`closed-${index}`, terms())
    expect(circuits.readState('open', terms())).toMatchObject({ state: 'open', fence: open.fence })
    expect(circuits.readState('half-open', terms())).toMatchObject({
      fence: halfOpen.fence,
      probe: { owner: 'prober' },
    })
    expect(circuits.readState('isolated', terms())).toMatchObject({
      state: 'isolated',
      fence: isolated.fence,
    })
  })

  it('lets a circuit go again once it is closed', () => {
    const circuits = circuitsOf(memoryStore({ maxKeys: 1 }))
    const { fence } = bring(circuits, 'a', 'open')
    circuits.compareAndSet('a', 'open', 'closed', fence, terms())
    expect(circuits.readState('b', terms()).state).toBe('closed')
  })

  it('says so where nothing may go, and goes on answering for what it has', () => {
    const circuits = circuitsOf(memoryStore({ maxKeys: 2 }))
    const { fence } = bring(circuits, 'a', 'open')
    bring(circuits, 'b', 'isolated')
    const refused = expect(() => circuits.readState('c', terms()))
    refused.toThrow(expect.objectContaining({ code: 'STORE_FULL' }))
    refused.toThrow(/larger maxKeys/)
    expect(circuits.readState('a', terms()).fence).toBe(fence)
    circuits.forget('b')
    expect(circuits.readState('c', terms()).state).toBe('closed')
  })

  it('drops what has expired before what is in use', () => {
    const clock = handClock()
    const circuits = circuitsOf(memoryStore({ maxKeys: 3, clock }))
    const live = circuits.readState('live', terms({ window: { kind: 'time', ms: 3_600_000 } }))
    bring(circuits, 'expired and open', 'open')
    circuits.readState('expired and closed', terms())
    clock.advance(600_000)
    circuits.readState('new', terms())
    circuits.readState('new too', terms())
    expect(circuits.readState('live', terms()).fence).toBe(live.fence)
  })

  it('takes another where what is open has expired, whoever was touched first', () => {
    const clock = handClock()
    const circuits = circuitsOf(memoryStore({ maxKeys: 2, clock }))
    const long = terms({ cooldownMs: 3_600_000 })
    const { fence } = circuits.readState('long', long)
    circuits.compareAndSet('long', 'closed', 'open', fence, long)
    bring(circuits, 'short', 'open')
    clock.advance(600_000)
    expect(circuits.readState('another', terms()).state).toBe('closed')
    expect(circuits.readState('long', terms()).state).toBe('open')
  })
})

describe('a million names', () => {
  it('stay in the memory of maxKeys', () => {
    const collect = heapInUse()
    const circuits = circuitsOf(memoryStore({ maxKeys: 1_000 }))
    const before = collect()
    for (let index = 0; index < 1_000_000; index++) circuits.readState(`name-${index}`, SAME)
    expect(collect() - before).toBeLessThan(2_000_000)
    expect(circuits.readState('name-999999', SAME).fleet).toBe(1)
  }, 60_000)

  it('find room at once though nearly all circuits are open', () => {
    const [full, nearlyAllOpen] = [circuitsOf(memoryStore({ maxKeys: 1 })), circuitsOf(memoryStore())]
    for (let index = 0; index < 9_999; index++) bring(nearlyAllOpen, `open-${index}`, 'open')
    const name = (index: number): string => `closed-${index}`
    // To walk over the open ones would take a hundred times as long.
    expect(secondsFor(nearlyAllOpen, name)).toBeLessThan(15 * secondsFor(full, name))
  })

  it('do not slow down one that is in constant use', () => {
    const [alone, among] = [circuitsOf(memoryStore()), circuitsOf(memoryStore())]
    for (let index = 0; index < 10_000; index++) among.readState(`name-${index}`, SAME)
    // With a Map that gets its key anew each time it takes a hundred times as long.
    expect(secondsFor(among, () => 'name-0')).toBeLessThan(15 * secondsFor(alone, () => 'name-0'))
  })
})

describe('a circuit', () => {
  it('takes less than 600 bytes while it is idle', () => {
    const collect = heapInUse()
    const names = Array.from({ length: 10_000 }, (_, index) => `name-${index}`)
    const circuits = circuitsOf(memoryStore())
    circuits.readState('name-0', SAME)
    const before = collect()
    for (const name of names) circuits.readState(name, SAME)
    expect((collect() - before) / names.length).toBeLessThan(600)
    expect(circuits.readState('name-0', SAME).fleet).toBe(1)
  })

  it('remembers 1,024 instances, and drops the longest untouched', () => {
    const circuits = circuitsOf(memoryStore())
    const { fence } = circuits.readState('a', terms())
    for (let index = 0; index < 5_000; index++) {
      const { snapshot, counters } = circuits.record(
        'a',
        fence,
        tally(1, { failures: 1 }),
        terms({ instance: `instance-${index}` }),
      )
      expect(snapshot.fleet).toBeLessThanOrEqual(1_024)
      expect(counters.reporters).toBeLessThanOrEqual(1_024)
    }
    const last = terms({ instance: 'instance-4999' })
    expect(circuits.record('a', fence, tally(1, { failures: 1 }), last).counters.failures).toBe(5_000)
  })

  it('remembers an instance in use, whoever else comes by', () => {
    const circuits = circuitsOf(memoryStore())
    const { fence } = circuits.readState('a', terms())
    const send = (): number =>
      circuits.record('a', fence, tally(1, { failures: 1 }), terms({ instance: 'in use' })).counters.failures
    for (let index = 0; index < 3_000; index++) {
      // Each time the same tally: once forgotten, it would be counted anew.
      if (index % 500 === 0) expect(send()).toBe(1)
      circuits.readState('a', terms({ instance: `passer-by-${index}` }))
    }
    expect(send()).toBe(1)
  })
})

const SAME = terms()

/** The fastest of a few rounds: the others were disturbed by something else. */
function secondsFor(circuits: PromptCircuits, name: (index: number) => string): number {
  const rounds = Array.from({ length: 5 }, () => {
    const start = performance.now()
    for (let index = 0; index < 10_000; index++) circuits.readState(name(index), SAME)
    return (performance.now() - start) / 1000
  })
  return Math.min(...rounds)
}
