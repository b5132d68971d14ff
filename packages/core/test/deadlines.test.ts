import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Deadlines } from '../src/call/deadlines'
import { VirtualClock } from './support/virtual-clock'

describe('deadlines', () => {
  it('pass at their moments, each once, in whatever order and lengths they were set', async () => {
    const lengths = fc.array(fc.tuple(fc.nat(400), fc.integer({ min: 1, max: 400 }), fc.boolean()), {
      maxLength: 60,
    })
    await fc.assert(
      fc.asyncProperty(lengths, async (plan) => {
        const clock = new VirtualClock()
        const start = clock.now()
        const deadlines = new Deadlines(clock)
        const passed = new Map<number, number[]>()
        const set = plan
          .map(([at, ms, isTaken], index) => ({ at, ms, isTaken, index }))
          .toSorted((a, b) => a.at - b.at)
        for (const { at, ms, isTaken, index } of set) {
          await clock.advance(start + at - clock.now())
          const deadline = deadlines.set(clock.now(), ms, () => {
            passed.set(index, [...(passed.get(index) ?? []), clock.now()])
          })
          if (isTaken) deadlines.clear(deadline)
        }
        await clock.advance(1_000)
        for (const { at, ms, isTaken, index } of set) {
          expect(passed.get(index)).toEqual(isTaken ? undefined : [start + at + ms])
        }
        expect(clock.timers).toBe(0)
      }),
      { numRuns: 40 },
    )
  })

  it('share one timer, and give it up soon after the last of them was taken back', async () => {
    const clock = new VirtualClock()
    const deadlines = new Deadlines(clock)
    const set = Array.from({ length: 1_000 }, (_, index) =>
      deadlines.set(clock.now(), 1_000 + (index % 7), () => {}),
    )
    expect(clock.timers).toBe(1)
    for (const deadline of set) deadlines.clear(deadline)
    await clock.advance(50)
    expect(clock.timers).toBe(0)
  })

  it('pass though they are of more lengths than are kept apart', async () => {
    const clock = new VirtualClock()
    const deadlines = new Deadlines(clock)
    const passed: number[] = []
    for (let ms = 300; ms > 0; ms--) deadlines.set(clock.now(), ms, () => passed.push(ms))
    await clock.advance(300)
    expect(passed).toHaveLength(300)
    expect(passed.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1))
  })

  it('can be set and taken back while others pass', async () => {
    const clock = new VirtualClock()
    const deadlines = new Deadlines(clock)
    const passed: string[] = []
    const second = { deadline: undefined as ReturnType<Deadlines['set']> | undefined }
    deadlines.set(clock.now(), 100, () => {
      passed.push('first')
      if (second.deadline) deadlines.clear(second.deadline)
      deadlines.set(clock.now(), 100, () => passed.push('third'))
    })
    second.deadline = deadlines.set(clock.now(), 100, () => passed.push('second'))
    await clock.advance(199)
    expect(passed).toEqual(['first'])
    await clock.advance(1)
    expect(passed).toEqual(['first', 'third'])
  })

  it('beyond what timers take do not pass at once', async () => {
    const clock = new VirtualClock()
    const deadlines = new Deadlines(clock)
    let isPassed = false
    const deadline = deadlines.set(clock.now(), 2 ** 40, () => {
      isPassed = true
    })
    await clock.advance(10_000)
    expect(isPassed).toBe(false)
    deadlines.clear(deadline)
  })
})
