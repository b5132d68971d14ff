import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/support/redis/index'
import { moduleOf } from '../build/module'
import { assembleAll } from '../build/scripts'
import * as generated from '../src/scripts.generated'

const server = await startRedis()
afterAll(() => server.stop())

describe('the generated module', () => {
  it('is what the .lua files make', () => {
    const text = readFileSync(new URL('../src/scripts.generated.ts', import.meta.url), 'utf8')
    expect(text).toBe(moduleOf(assembleAll()))
  })

  for (const script of Object.values(generated)) {
    it(`knows ${script.name} by the digest that Redis gives it`, async () => {
      expect(await server.command('SCRIPT', 'LOAD', script.text)).toBe(script.digest)
    })
  }

  it('spells back-ticks, backslashes and dollars of Lua as they are', async () => {
    const lua = ["return '`", '{1}', "\\\\n'"].join('$')
    const script = { name: 'odd', keys: [], args: [], reply: [], text: lua, digest: '' }
    const [, literal = ''] = /text: (`.*`),/s.exec(moduleOf([script])) ?? []
    const { text } = await import(`data:text/javascript,export const text = ${encodeURIComponent(literal)}`)
    expect(text).toBe(lua)
  })
})
