import { expect, test, vi } from 'vitest'
import { startRedis } from './index'
import { onFreePort } from './ports'

test('tries another port when one is taken', async () => {
  const tried: number[] = []
  const got = await onFreePort(async (port) => {
    tried.push(port)
    return tried.length < 3 ? undefined : port
  })
  expect(tried).toHaveLength(3)
  expect(got).toBe(tried[2])
})

test('gives up when every port seems taken', async () => {
  await expect(onFreePort(async () => undefined)).rejects.toThrow('all taken')
})

test('does not take for its own the Redis that has the port', async () => {
  let draws: number[] = []
  const { random } = Math
  using spy = vi.spyOn(Math, 'random').mockImplementation(() => {
    const draw = random()
    draws.push(draw)
    return draw
  })
  await using first = await startRedis()
  await first.command('SET', 'mine', 1)
  const taken = draws.at(-1) ?? 0
  draws = []
  spy.mockImplementationOnce(() => taken)

  await using second = await startRedis()
  expect(draws).not.toEqual([])
  expect(second.port).not.toBe(first.port)
  expect(await second.command('GET', 'mine')).toBe(null)
})
