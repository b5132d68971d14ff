import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const program = fileURLToPath(new URL('../src/index.ts', import.meta.url))
// Without what whoever runs the tests asks of Node.js: the packages' sources, say.
const { NODE_OPTIONS: _, ...clean } = process.env

/** Runs the example as `npm run degradation` does, on the built packages. */
function start(...args: readonly string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], {
    env: clean,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const hear = (chunk: Buffer) => {
    output += chunk
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const ended = once(child, 'close').then(([code]) => ({ code, output }))
  const says = async (text: string): Promise<void> => {
    const early = ended.then(() => {
      if (!output.includes(text)) throw new Error(`it ended without saying "${text}":\n${output}`)
    })
    while (!output.includes(text)) await Promise.race([once(child.stdout, 'data'), early])
  }
  return { child, ended, says, heard: () => output }
}

const beginning = (output: string, mark: string) => output.split('\n').filter((line) => line.startsWith(mark))

describe('npm run degradation', () => {
  it('-- --once sees each degradation, prints them in a table and ends with 0', async () => {
    const { code, output } = await start('--once').ended
    expect(beginning(output, 'BROKEN')).toEqual([])
    expect(beginning(output, 'ok')).toHaveLength(6)
    for (const degradation of ['cached', 'feature off', 'default']) {
      expect(output).toMatch(new RegExp(`${degradation} +up +20 +0 +0\n`))
      expect(output).toMatch(new RegExp(`${degradation} +down +0 +[1-9]\\d* +\\d+\n`))
    }
    expect(output.split('\n').filter((line) => line.length > 100)).toEqual([])
    expect(code).toBe(0)
  }, 60_000)

  it('serves the three routes until it is stopped', async () => {
    const { child, ended, says, heard } = start()
    await says('the dependency is up')
    const urls = heard().match(/http:\S+/g) ?? []
    const answers = await Promise.all(urls.map(async (url) => (await fetch(url)).text()))
    expect(answers[0]).toBe('{"stale":false,"cents":2400}')
    expect(answers[1]).toContain('<h2>Reviews</h2>')
    expect(answers[2]).toBe('{"days":2}')
    child.kill('SIGINT')
    expect((await ended).code).toBe(0)
  }, 60_000)

  it('explains an argument that it does not know', async () => {
    const { code, output } = await start('--twice').ended
    expect(output).toContain('the only argument is --once; got --twice')
    expect(code).toBe(2)
  }, 60_000)
})
