import { describe, expect, it } from 'vitest'
import { circuitConformance } from '../src'
import { collector, failures } from './support/collector'
import { FAULTS } from './support/faults'
import { reference } from './support/reference'

describe('a store with a fault fails the case of that name', () => {
  for (const [fault, titles] of Object.entries(FAULTS)) {
    it(`a store that ${fault}`, async () => {
      const runner = collector()
      circuitConformance(runner, reference([fault]))
      const failed = [...(await failures(runner)).keys()]
      expect(failed).toEqual(expect.arrayContaining([titles].flat()))
    })
  }

  it('and there is no case that none of them is meant for', () => {
    const runner = collector()
    circuitConformance(runner, reference())
    const aimedAt = new Set(Object.values(FAULTS).flat())
    const titles = runner.tests.map(({ title }) => title)
    // Shown in suite.test.ts: it takes a store that is shared.
    const elsewhere = ['declares no count window where it is shared']
    expect(titles.filter((title) => !aimedAt.has(title))).toEqual(elsewhere)
  })
})
