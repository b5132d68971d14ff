import { describe, expect, it } from 'vitest'
import { findings } from '../build/check'
import { assembleAll } from '../build/scripts'

describe('findings', () => {
  it('has none on the scripts that there are', () => {
    expect(assembleAll().flatMap(({ name, text }) => findings(name, text))).toEqual([])
  })

  const wrong: [string, string, string][] = [
    ['a global that is read', 'return cuont + 1', 'script: cuont is no global of a script'],
    ['a global that is written', 'count = 1', 'script: count is no global of a script'],
    ['a global that is called', 'local now = clock()', 'script: clock is no global of a script'],
    [
      'a local before its place',
      'local function a() return b() end\nlocal function b() end',
      'b is no global of a script',
    ],
    ['a function that drops digits', 'return tostring(1)', 'script: tostring is no global of a script'],
    ['what is no Lua', 'local = 1', 'script: [1:6] <name> expected near'],
    ['what only a later Lua has', 'return 7 // 2', 'script: [1:'],
  ]
  for (const [what, text, finding] of wrong) {
    it(`has ${what}`, () => expect(findings('script', text).join('\n')).toContain(finding))
  }

  it('takes fields and methods for none', () => {
    expect(
      findings('script', "local reply = { count = 1 }\nreply.sum = 2\nreturn redis.call('GET', KEYS[1])"),
    ).toEqual([])
  })
})
