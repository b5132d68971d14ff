import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { assemble } from '../build/assemble'
import { includes } from '../build/scripts'
import { decode } from '../src/decode'

const server = await startRedis()
afterAll(() => server.stop())

/** A script that has nothing but what every script includes. */
function probe(body: string): string {
  return assemble('probe-0.lua', `-- @include text\n${body}`, includes()).text
}

describe('put_text', () => {
  const script = probe('local reply = {} put_text(reply, ARGV[1]) put_flag(reply, true) return reply')

  it('puts what decode reads as the same text, whatever its length', async () => {
    const texts = fc.string({ unit: 'grapheme-ascii', maxLength: 100 })
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const reply = await server.command('EVAL', script, 0, text)
        expect(decode('probe', { text: 'text', end: 'flag' }, reply)).toEqual({ text, end: true })
      }),
    )
  })

  it('puts no number that a double does not hold', async () => {
    const [, ...numbers] = (await server.command('EVAL', script, 0, '~'.repeat(60))) as number[]
    expect(numbers.every(Number.isSafeInteger)).toBe(true)
  })
})

describe('whole', () => {
  const script = probe('return whole(tonumber(ARGV[1]))')

  it('spells every whole number that a double holds, to its last digit', async () => {
    const numbers = fc.oneof(
      fc.maxSafeInteger(),
      fc.integer({ min: 0, max: 15 }).map((power) => 10 ** power),
    )
    await fc.assert(
      fc.asyncProperty(numbers, async (number) => {
        expect(await server.command('EVAL', script, 0, number)).toBe(String(number))
      }),
    )
  })
})
