import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Schedule, type Scheduled } from '../src/schedule'
import { seed, seeded } from './support/seed'

interface Thing extends Scheduled {
  readonly id: number
}

const thing = (id: number): Thing => ({ id, due: 0, place: -1 })

describe(`a schedule, ${seeded}`, () => {
  it('has the first that is due at hand, whatever is put, put anew and taken out', () => {
    const steps = fc.array(fc.record({ id: fc.nat(9), due: fc.nat(20), deletes: fc.boolean() }), {
      maxLength: 80,
    })
    fc.assert(
      fc.property(steps, (all) => {
        const schedule = new Schedule<Thing>()
        const things = Array.from({ length: 10 }, (_, id) => thing(id))
        const expected = new Map<number, number>()
        for (const { id, due, deletes } of all) {
          if (deletes) schedule.delete(things[id] as Thing)
          else schedule.put(things[id] as Thing, due)
          if (deletes) expected.delete(id)
          else expected.set(id, due)
          expect(schedule.first?.due ?? Number.POSITIVE_INFINITY).toBe(Math.min(...expected.values()))
        }
        const dues: number[] = []
        for (let first = schedule.first; first; first = schedule.first) {
          expect(first.due).toBe(expected.get(first.id))
          dues.push(first.due)
          schedule.delete(first)
        }
        expect(dues).toEqual([...expected.values()].sort((a, b) => a - b))
      }),
      { seed, numRuns: 300 },
    )
  })
})
