import { performance } from 'node:perf_hooks'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { prefersText } from '../src/accept'

describe('the form of a problem', () => {
  it.each([
    ['text/plain'],
    ['TEXT/Plain'],
    ['text/*'],
    ['text/plain;charset=utf-8'],
    ['text/plain, application/json;q=0.9'],
    ['application/json;q=0.5 , text/plain ; q=0.6'],
    ['text/plain;q=0.2, application/problem+json;q=0.1, application/json;q=0.1'],
    ['*/*;q=0.1, text/plain'],
    ['text/*;q=0.9, */*;q=0.8'],
    ['text/plain, application/*;q=0, */*'],
    ['image/png;title="a, text/x;q=0", text/plain'],
    ['text/plain;q=0.1, text/plain;q=0.9, application/json;q=0.5'],
    [',, ,text/plain,;;,'],
  ])('is text for %s', (accept) => expect(prefersText(accept)).toBe(true))

  it.each([
    [undefined],
    [''],
    ['*/*'],
    ['application/json'],
    ['application/problem+json, text/plain'],
    ['application/json, text/plain, */*'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
    ['text/plain;q=0'],
    ['text/plain;q=0.000, */*;q=0.001'],
    ['text/*, text/plain;q=0.1, */*;q=0.5'],
    ['image/png'],
    ['text'],
    ['text/plain/x'],
    ['text/plain;q=1.1'],
    ['text/plain;q=0.1234'],
    ['text/plain;q=-1'],
    ['text/plain;q=NaN'],
    ['text/plain;q='],
    ['text/plain;q=1e0'],
    ['image/png;title=", text/plain'],
    ['constructor, __proto__;q=1'],
    [`text/plain${' '.repeat(4_000)}`],
  ])('is JSON for %s', (accept) => expect(prefersText(accept)).toBe(false))

  it('is decided for whatever a client sends', () => {
    const piece = fc.constantFrom(
      'text',
      'plain',
      '/',
      '*',
      ';',
      ',',
      'q',
      '=',
      '0',
      '1',
      '.',
      '"',
      '\\',
      ' ',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece, { maxLength: 60 }).map((all) => all.join('')),
        ),
        (text) => {
          expect(typeof prefersText(text)).toBe('boolean')
        },
      ),
    )
  })

  it('is decided in no time for the largest header that Node.js takes', () => {
    const start = performance.now()
    for (const piece of ['"', '\\"', ',', ';', 'a/b;q=0.', ' ', 'text/plain,', '0']) {
      prefersText(piece.repeat(16_384 / piece.length))
      prefersText(piece.repeat(2_048 / piece.length))
    }
    expect(performance.now() - start).toBeLessThan(500)
  })
})
