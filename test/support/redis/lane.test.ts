import { expect, test } from 'vitest'
import { until } from '../until'
import { Lane, type Traffic } from './lane'

function lane(traffic: Partial<Traffic> = {}) {
  const state: Traffic = { lagMs: 0, held: false, ...traffic }
  const arrived: string[] = []
  const own = new Lane(state)
  const send = (what: string) => own.send(() => arrived.push(what))
  return { state, arrived, own, send }
}

test('lets arrive at once what has no lag', () => {
  const { arrived, send } = lane()
  send('a')
  expect(arrived).toEqual(['a'])
})

test.each([0.5, 1, 2, 5])('lets nothing arrive before its lag of %d ms', async (lagMs) => {
  const { own } = lane({ lagMs })
  for (let i = 0; i < 20; i++) {
    const sentAt = performance.now()
    await new Promise<void>((resolve) => own.send(resolve))
    expect(performance.now() - sentAt).toBeGreaterThanOrEqual(lagMs)
  }
})

test('keeps the order when the lag gets shorter', async () => {
  const { state, arrived, send } = lane({ lagMs: 20 })
  send('a')
  state.lagMs = 0
  send('b')
  expect(arrived).toEqual([])
  await until('both to arrive', () => arrived.length === 2)
  expect(arrived).toEqual(['a', 'b'])
})

test('keeps what it holds, and lets it arrive in order', () => {
  const { state, arrived, own, send } = lane({ held: true })
  send('a')
  send('b')
  expect(arrived).toEqual([])
  state.held = false
  own.run()
  expect(arrived).toEqual(['a', 'b'])
})

test('loses what is under way when it is cleared, and goes on with what comes then', () => {
  const { state, arrived, own, send } = lane({ held: true })
  send('a')
  own.clear()
  state.held = false
  own.run()
  send('b')
  expect(arrived).toEqual(['b'])
})
