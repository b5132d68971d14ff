import { describe, expect, it } from 'vitest'
import { circuitConformance, leftOut, limitConformance, storeConformance } from '../src'
import { collector, failures } from './support/collector'
import { reference } from './support/reference'

const PARTS = ['circuits', 'limits', 'leases', 'cache'] as const

const everything = { windows: ['time', 'consecutive', 'count'], push: true, shared: false } as const

describe('what is left out', () => {
  it('is nothing for a store that supports everything and a harness with every hook', () => {
    expect(leftOut(reference(), PARTS)).toEqual([])
  })

  it('is what needs a hook the harness does not have, by its name', () => {
    const { expire: _, ...hooks } = reference().hooks ?? {}
    expect(leftOut(reference([], { hooks }))).toEqual([
      {
        title: 'A fence names one period for all time: mints later fences after the circuit expired',
        reason: 'needs the hook `expire`',
      },
    ])
  })

  it('is what the store says it does not support', () => {
    const supports = { ...everything, windows: ['time', 'consecutive'], push: false } as const
    const reasons = new Set(leftOut(reference([], { supports })).map(({ reason }) => reason))
    expect([...reasons]).toEqual([
      'the store does not support `push`',
      'the store does not support `count` windows',
    ])
  })

  it('is told for each part that is asked for', () => {
    const { flush: _, ...hooks } = reference().hooks ?? {}
    const needsFlush = (parts: Parameters<typeof leftOut>[1]) => leftOut(reference([], { hooks }), parts)
    expect(needsFlush(['cache'])).toEqual([
      {
        title: 'A value comes back as it was: has nothing after it was flushed',
        reason: 'needs the hook `flush`',
      },
    ])
    const each = PARTS.flatMap((part) => needsFlush([part]))
    expect(needsFlush(PARTS)).toEqual(each)
    expect(new Set(each.map(({ title }) => title)).size).toBe(5)
  })

  it('is a whole part that the store does not have, and what is about it and another', async () => {
    const runner = collector()
    const lines: string[] = []
    const parts = ['circuits', 'limits', 'cache'] as const
    const harness = reference(['has no leases'], { parts, print: (line) => lines.push(line) })
    storeConformance(runner, harness)
    expect(runner.skipped).toEqual([
      'left out: keeps its parts apart under one name: the store has no `leases`',
      'left out: the contract of leases: the store has no `leases`',
    ])
    expect(lines).toHaveLength(2)
    expect(await failures(runner)).toEqual(new Map())
  })

  it('shows as skipped, and is printed', () => {
    const runner = collector()
    const lines: string[] = []
    const harness = reference([], { hooks: {}, print: (line) => lines.push(line) })
    circuitConformance(runner, harness)
    expect(runner.skipped).toHaveLength(leftOut(harness).length)
    expect(runner.skipped).toContain(
      'left out: mints later fences after everything was flushed: needs the hook `flush`',
    )
    expect(lines).toHaveLength(leftOut(harness).length)
    expect(lines[0]).toMatch(/^reference: left out: /)
  })

  it('shows as a test of that name where the runner cannot skip', () => {
    const [skips, runs] = [collector(), collector({ skips: false })]
    for (const runner of [skips, runs]) circuitConformance(runner, reference([], { hooks: {} }))
    expect(runs.tests).toHaveLength(skips.tests.length + skips.skipped.length)
  })
})

describe('what is not left out', () => {
  it('passes without hooks', async () => {
    const runner = collector()
    storeConformance(runner, reference([], { hooks: {} }))
    expect(runner.tests.length).toBeGreaterThan(200)
    expect(await failures(runner)).toEqual(new Map())
  })

  for (const windows of [['time'], ['consecutive'], ['count']] as const) {
    it(`passes for a store of ${windows} windows alone`, async () => {
      const runner = collector()
      circuitConformance(runner, reference([], { supports: { ...everything, windows, push: false } }))
      expect(await failures(runner)).toEqual(new Map())
    })
  }

  it('passes a store whose sliding windows are exact', async () => {
    const runner = collector()
    limitConformance(runner, reference(['keeps each moment of a window']))
    expect(await failures(runner)).toEqual(new Map())
  })

  it('fails each case of a part that is missing, and says so', async () => {
    const runner = collector()
    limitConformance(runner, reference(['has no limits']))
    const failed = await failures(runner)
    expect(failed.size).toBe(runner.tests.length)
    expect(String([...failed.values()][0])).toContain('the limits of the store')
  })

  it('fails a shared store that declares count windows', async () => {
    const runner = collector()
    circuitConformance(runner, reference([], { supports: { ...everything, shared: true } }))
    expect([...(await failures(runner)).keys()]).toEqual(['declares no count window where it is shared'])
  })

  it('has a title of its own for each case', () => {
    const runner = collector()
    storeConformance(runner, reference())
    const titles = runner.tests.map(({ title }) => title)
    expect(new Set(titles).size).toBe(titles.length)
  })
})

describe('a random case', () => {
  const inRandomOrders = 'keeps to the contract in random orders, repeats among them'

  it('names its seed when it fails, and fails alike by that seed', async () => {
    const messages: string[] = []
    for (let run = 0; run < 2; run++) {
      const runner = collector()
      circuitConformance(runner, reference(['ignores the fence'], { seed: 4_711 }))
      messages.push(String((await failures(runner)).get(inRandomOrders)))
    }
    expect(messages[0]).toContain('seed 4711')
    expect(withoutFences(messages[0])).toBe(withoutFences(messages[1]))
  })

  it('finds what no other case looks for', async () => {
    const found = new Set<string>()
    for (let seed = 0; seed < 20; seed++) {
      const runner = collector()
      circuitConformance(runner, reference(['keeps counts over every third trip'], { seed }))
      for (const title of (await failures(runner)).keys()) found.add(title)
    }
    expect([...found]).toEqual([inRandomOrders])
  })

  it('passes whatever the seed', async () => {
    for (let seed = 0; seed < 100; seed++) {
      const runner = collector()
      storeConformance(runner, reference([], { seed }))
      const isRandom = /^keeps to the contract in random|decided on a fence at once$|over any span/
      const random = runner.tests.filter(({ title }) => isRandom.test(title))
      expect(random).toHaveLength(5)
      expect(await failures({ ...runner, tests: random })).toEqual(new Map())
    }
  })
})

/** Each bench has nonces of its own; they say nothing of the order of events. */
function withoutFences(message = ''): string {
  return message.replace(/"\d{16}\.[^"]*"/g, 'a fence')
}
