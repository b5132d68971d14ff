import type { CircuitSnapshot } from '@tidegate/contract'
import { expect, it } from 'vitest'
import { memoryStore } from '../src'
import { bring, circuitsOf, terms } from './support/caller'
import { heapInUse } from './support/heap'

it('tells once the swap is complete: a listener that reads sees what it was told', () => {
  const circuits = circuitsOf(memoryStore())
  const seen: boolean[] = []
  circuits.subscribe('a', (told) => {
    const { state, fence } = circuits.readState('a', terms())
    seen.push(told.state === state && told.fence === fence)
  })
  bring(circuits, 'a', 'open')
  expect(seen).toEqual([true])
})

it('tells of a swap once, however often it is delivered', () => {
  const circuits = circuitsOf(memoryStore())
  const told: CircuitSnapshot[] = []
  circuits.subscribe('a', (snapshot) => told.push(snapshot))
  const { fence } = circuits.readState('a', terms())
  const same = terms()
  for (let delivery = 0; delivery < 3; delivery++) circuits.compareAndSet('a', 'closed', 'open', fence, same)
  expect(told).toHaveLength(1)
})

it('takes one listener twice for two, and ends each by itself', () => {
  const circuits = circuitsOf(memoryStore())
  let calls = 0
  const listener = (): void => void calls++
  const stops = [circuits.subscribe('a', listener), circuits.subscribe('a', listener)]
  const { fence } = bring(circuits, 'a', 'open')
  expect(calls).toBe(2)
  stops[0]?.()
  stops[0]?.()
  circuits.compareAndSet('a', 'open', 'closed', fence, terms())
  expect(calls).toBe(3)
})

it('does not call one that another one unsubscribed meanwhile', () => {
  const circuits = circuitsOf(memoryStore())
  const called: string[] = []
  circuits.subscribe('a', () => {
    called.push('first')
    stop()
  })
  const stop = circuits.subscribe('a', () => called.push('second'))
  circuits.subscribe('a', () => called.push('third'))
  bring(circuits, 'a', 'open')
  expect(called).toEqual(['first', 'third'])
})

it('tells of a swap that a listener makes after the one it was told of, to everybody', () => {
  const circuits = circuitsOf(memoryStore())
  const states: string[][] = [[], []]
  circuits.subscribe('a', ({ state, fence }) => {
    states[0]?.push(state)
    if (state === 'open') circuits.compareAndSet('a', 'open', 'isolated', fence, terms())
  })
  circuits.subscribe('a', ({ state }) => states[1]?.push(state))
  const opened = bring(circuits, 'a', 'open')
  expect(opened.state).toBe('open')
  expect(states).toEqual([
    ['open', 'isolated'],
    ['open', 'isolated'],
  ])
})

it('goes on telling after a listener threw', () => {
  const circuits = circuitsOf(memoryStore())
  const told: string[] = []
  circuits.subscribe('a', () => {
    throw new Error('on purpose')
  })
  circuits.subscribe('a', ({ state }) => told.push(state))
  const { fence } = bring(circuits, 'a', 'open')
  circuits.compareAndSet('a', 'open', 'closed', fence, terms())
  expect(told).toEqual(['open', 'closed'])
})

it('keeps nothing of who unsubscribed', () => {
  const collect = heapInUse()
  const circuits = circuitsOf(memoryStore())
  const before = collect()
  for (let index = 0; index < 100_000; index++) circuits.subscribe(`name-${index}`, () => {})()
  expect(collect() - before).toBeLessThan(1_000_000)
  expect(circuits.readState('a', terms()).fleet).toBe(1)
})

it('tells nobody once the store is closed', async () => {
  const store = memoryStore()
  const circuits = circuitsOf(store)
  let calls = 0
  circuits.subscribe('a', () => void calls++)
  await store.close()
  bring(circuits, 'a', 'open')
  expect(calls).toBe(0)
})
