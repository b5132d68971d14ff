import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Linked, Recency } from '../src/recency'

interface Thing extends Linked<Thing> {
  readonly id: number
}

it('keeps the order of the last uses, whatever is used, retired and taken out', () => {
  const steps = fc.array(fc.record({ id: fc.nat(6), does: fc.constantFrom('use', 'retire', 'delete') }), {
    maxLength: 60,
  })
  fc.assert(
    fc.property(steps, (all) => {
      const list = new Recency<Thing>()
      const things = Array.from({ length: 7 }, (_, id): Thing => ({ id, older: undefined, newer: undefined }))
      let expected: Thing[] = []
      for (const { id, does } of all) {
        const thing = things[id] as Thing
        expected = expected.filter((other) => other !== thing)
        list[does](thing)
        if (does === 'use') expected.push(thing)
        if (does === 'retire') expected.unshift(thing)
      }
      const order: number[] = []
      for (let thing = list.oldest; thing; thing = thing.newer) order.push(thing.id)
      expect(order).toEqual(expected.map(({ id }) => id))
    }),
  )
})
