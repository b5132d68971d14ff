import { describe, expect, it } from 'vitest'
import {
  cacheConformance,
  circuitConformance,
  type Harness,
  leaseConformance,
  limitConformance,
  type Runner,
  storeConformance,
} from '../src'
import { CACHE_FAULTS } from './support/cache-faults'
import { collector, failures } from './support/collector'
import { FAULTS } from './support/faults'
import { LEASE_FAULTS } from './support/lease-faults'
import { LIMIT_FAULTS } from './support/limit-faults'
import { reference } from './support/reference'
import { STORE_FAULTS } from './support/store-faults'

type Conformance = (runner: Runner, harness: Harness) => void

// Shown in suite.test.ts: it takes a store that is shared.
const ELSEWHERE = ['declares no count window where it is shared']

const PARTS: Readonly<Record<string, readonly [Conformance, typeof FAULTS]>> = {
  circuits: [circuitConformance, FAULTS],
  limits: [limitConformance, LIMIT_FAULTS],
  leases: [leaseConformance, LEASE_FAULTS],
  cache: [cacheConformance, CACHE_FAULTS],
}

for (const [part, [conformance, faults]] of Object.entries(PARTS)) {
  describe(`${part}: a store with a fault fails the case of that name`, () => {
    for (const [fault, titles] of Object.entries(faults)) {
      it(`a store that ${fault}`, () => finds(conformance, fault, titles))
    }

    it('and there is no case that none of them is meant for', () => {
      const aimedAt = [...Object.values(faults).flat(), ...ELSEWHERE]
      expect(titlesOf(conformance).filter((title) => !aimedAt.includes(title))).toEqual([])
    })
  })
}

describe('all parts: a store with a fault fails the case of that name', () => {
  for (const [fault, titles] of Object.entries(STORE_FAULTS)) {
    it(`a store that ${fault}`, () => finds(storeConformance, fault, titles))
  }

  it('and there is no case that none of them is meant for', () => {
    const aimedAt = [STORE_FAULTS, ...Object.values(PARTS).map(([, faults]) => faults)].flatMap((faults) =>
      Object.values(faults).flat(),
    )
    const titles = titlesOf(storeConformance)
    expect(titles.filter((title) => ![...aimedAt, ...ELSEWHERE].includes(title))).toEqual([])
  })
})

async function finds(
  conformance: Conformance,
  fault: string,
  titles: string | readonly string[],
): Promise<void> {
  const runner = collector()
  conformance(runner, reference([fault]))
  const failed = [...(await failures(runner)).keys()]
  expect(failed).toEqual(expect.arrayContaining([titles].flat()))
}

function titlesOf(conformance: Conformance): readonly string[] {
  const runner = collector()
  conformance(runner, reference())
  return runner.tests.map(({ title }) => title)
}
