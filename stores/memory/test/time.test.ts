import { expect, it } from 'vitest'
import { memoryStore } from '../src'
import { bring, circuitsOf, tally, terms } from './support/caller'
import { handClock } from './support/clock'
import { limitsOf } from './support/parts'

it('never goes back, though its clock does', () => {
  const clock = handClock()
  const circuits = circuitsOf(memoryStore({ clock }))
  const before = circuits.readState('a', terms())
  clock.advance(-3_600_000)
  const after = circuits.readState('a', terms())
  expect(after.now).toBe(before.now)
})

it('goes on from where it was when its clock is set back, as often as that may be', () => {
  const clock = handClock()
  const circuits = circuitsOf(memoryStore({ clock }))
  const start = circuits.readState('a', terms()).now
  for (let index = 1; index <= 3; index++) {
    clock.advance(-3_600_000)
    circuits.readState('a', terms())
    clock.advance(1_000)
    expect(circuits.readState('a', terms()).now).toBe(start + 1_000 * index)
  }
  clock.advance(3 * 3_600_000)
  expect(circuits.readState('a', terms()).now).toBe(start + 3_000 + 3 * 3_600_000)
})

it('ends a cooldown and refills a limit while its clock is behind', () => {
  const clock = handClock()
  const store = memoryStore({ clock })
  const { fence } = bring(circuitsOf(store), 'a', 'open')
  const quotas = [{ name: 'q', algorithm: 'fixed-window', limit: 1, windowMs: 1_000 }] as const
  limitsOf(store).consume('a', quotas, 1)
  clock.advance(-3_600_000)
  expect(limitsOf(store).peek('a', quotas)).toMatchObject({ allowed: false, retryAfterMs: 1_000 })
  clock.advance(1_000)
  expect(limitsOf(store).peek('a', quotas).allowed).toBe(true)
  const probe = terms({ owner: 'one' })
  expect(circuitsOf(store).compareAndSet('a', 'open', 'half-open', fence, probe).ok).toBe(true)
})

it('lets no lapsed lease and no old outcome live again', () => {
  const clock = handClock()
  const circuits = circuitsOf(memoryStore({ clock }))
  const opened = bring(circuits, 'a', 'open')
  clock.advance(1_000)
  const window = { kind: 'time', ms: 10_000 } as const
  const probing = circuits.compareAndSet(
    'a',
    'open',
    'half-open',
    opened.fence,
    terms({ owner: 'one', window }),
  )
  circuits.record('a', probing.snapshot.fence, tally(1, { failures: 1 }), terms({ window }))
  clock.advance(10_000)
  circuits.readState('a', terms())
  clock.advance(-10_000)
  const { counters } = circuits.record('a', probing.snapshot.fence, tally(2), terms({ window }))
  expect(counters.failures).toBe(0)
  const claim = circuits.compareAndSet(
    'a',
    'half-open',
    'half-open',
    probing.snapshot.fence,
    terms({ owner: 'two' }),
  )
  expect(claim).toMatchObject({ ok: true, snapshot: { probe: { owner: 'two' } } })
})

it('mints rising fences over all circuits, though its clock stands still or goes back', () => {
  const clock = handClock()
  const circuits = circuitsOf(memoryStore({ clock, maxKeys: 2 }))
  const fences: string[] = []
  for (let index = 0; index < 100; index++) {
    const name = `circuit-${index % 3}`
    const { fence } = circuits.readState(name, terms())
    if (fences.includes(fence)) continue
    fences.push(fence)
    if (index % 2)
      fences.push(circuits.compareAndSet(name, 'closed', 'closed', fence, terms()).snapshot.fence)
    if (index % 5 === 0) circuits.forget(name)
    if (index % 7 === 0) clock.advance(-1_000)
    if (index % 3 === 0) clock.advance(10)
  }
  expect(fences.length).toBeGreaterThan(100)
  expect(fences).toEqual([...new Set(fences)].sort())
})

it('survives a clock that tells no time for a moment', () => {
  let now = 1_000_000
  const circuits = circuitsOf(memoryStore({ clock: { now: () => now } }))
  const { fence } = circuits.readState('a', terms())
  for (now of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    expect(circuits.readState('a', terms())).toMatchObject({ fence, now: 1_000_000 })
  }
  now = 1_000_001
  expect(circuits.readState('a', terms()).now).toBe(1_000_001)
})

it('is close to the wall clock’s by default', () => {
  const { now } = circuitsOf(memoryStore()).readState('a', terms())
  expect(Math.abs(now - Date.now())).toBeLessThan(60_000)
})

it('keeps trips for a window after closing, and a reset of a closed circuit does not interrupt that', () => {
  const clock = handClock()
  const circuits = circuitsOf(memoryStore({ clock }))
  const opened = bring(circuits, 'a', 'open')
  const closed = circuits.compareAndSet('a', 'open', 'closed', opened.fence, terms()).snapshot
  clock.advance(30_000)
  const reset = circuits.compareAndSet('a', 'closed', 'closed', closed.fence, terms()).snapshot
  expect(reset.trips).toBe(1)
  clock.advance(30_000)
  expect(circuits.readState('a', terms()).trips).toBe(0)
})

it('lends a permit from the very moment on at which it may', () => {
  const clock = handClock()
  const circuits = circuitsOf(memoryStore({ clock }))
  let { fence } = bring(circuits, 'a', 'open')
  for (const from of ['open', 'half-open'] as const) {
    const claim = (owner: string) => circuits.compareAndSet('a', from, 'half-open', fence, terms({ owner }))
    clock.advance(999)
    expect(claim('early').ok).toBe(false)
    clock.advance(1)
    const { ok, snapshot } = claim('in time')
    expect(ok).toBe(true)
    fence = snapshot.fence
  }
})

it('takes a command at its deadline, and none after it', () => {
  const clock = handClock()
  const circuits = circuitsOf(memoryStore({ clock }))
  const { fence, now } = circuits.readState('a', terms())
  const until = (deadline: number) =>
    circuits.compareAndSet('a', 'closed', 'open', fence, terms({ deadline }))
  expect(until(now - 0.001).ok).toBe(false)
  expect(until(now).ok).toBe(true)
})

it('takes a command for a repeat only where it asks for the same', () => {
  const circuits = circuitsOf(memoryStore())
  const { fence } = circuits.readState('a', terms())
  const same = terms()
  const opened = circuits.compareAndSet('a', 'closed', 'open', fence, same).snapshot
  expect(circuits.compareAndSet('a', 'closed', 'isolated', fence, same)).toMatchObject({
    ok: false,
    snapshot: { state: 'open', fence: opened.fence },
  })
})

it('sets no timer', async () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length
  const before = timers()
  const store = memoryStore()
  const circuits = circuitsOf(store)
  circuits.subscribe('a', () => {})
  const { fence } = bring(circuits, 'a', 'open')
  circuits.record('a', fence, tally(1, { failures: 1 }), terms())
  store.limits.consume('a', [{ name: 'q', algorithm: 'gcra', limit: 1, windowMs: 1_000 }], 1)
  store.leases.acquire('a', { owner: 'one', limit: 1, leaseMs: 1_000 })
  store.cache.set('a', 'value', { ttlMs: 1_000 })
  expect(timers()).toBe(before)
  await store.close()
})
