import { describe, expect, it } from 'vitest'
import { circuitConformance } from '../src'
import { collector, failures } from './support/collector'
import { FAULTS, type Fault } from './support/faults'
import { reference } from './support/reference'

const everFailed = new Set<string>()

describe('a store with a fault fails the case of that name', () => {
  for (const [fault, title] of Object.entries(FAULTS) as [Fault, string][]) {
    it(`a store that ${fault}`, async () => {
      const runner = collector()
      circuitConformance(runner, reference([fault]))
      const failed = [...(await failures(runner)).keys()]
      for (const one of failed) everFailed.add(one)
      expect(failed).toContain(title)
    })
  }

  it('and there is no case that none of them fails', () => {
    const runner = collector()
    circuitConformance(runner, reference())
    const titles = runner.tests.map(({ title }) => title)
    // Shown in suite.test.ts: it takes a store that is shared.
    const elsewhere = ['declares no count window where it is shared']
    expect(titles.filter((title) => !everFailed.has(title))).toEqual(elsewhere)
  })
})
