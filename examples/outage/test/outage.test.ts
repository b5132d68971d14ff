import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const program = fileURLToPath(new URL('../src/index.ts', import.meta.url))

/** Runs the demo as `npm start` does, on the built packages. */
function start(...args: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], {
    env: { ...process.env, NO_COLOR: '1' },
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
    while (!output.includes(text)) await once(child.stdout, 'data')
  }
  return { child, ended, says }
}

describe('npm start', () => {
  it('-- --once plays one round and ends with 0 when all that it promises was true', async () => {
    const { ended } = start('--once', '--seed', '7')
    const { code, output } = await ended
    expect(output.split('\n').filter((line) => line.startsWith('BROKEN'))).toEqual([])
    expect(output.split('\n').filter((line) => line.startsWith('ok'))).toHaveLength(7)
    expect(output).toContain('Seed 7.')
    expect(output).toMatch(/PROBES {5}fence \d{16}\./)
    expect(output).toMatch(/requests of users +\d+: \d+ paid, \d+ failed/)
    expect(code).toBe(0)
  }, 60_000)

  it('goes on until Ctrl-C, and then sums up', async () => {
    const { child, ended, says } = start()
    await says('GOES DOWN')
    child.kill('SIGINT')
    const { code, output } = await ended
    expect(output).toContain('requests of users')
    expect(code).toBe(0)
  }, 60_000)

  it('explains an argument that it does not know', async () => {
    for (const [args, message] of [
      [['--twice'], 'there is no argument --twice; there are --once and --seed <whole number>'],
      [['--seed', 'x'], '--seed must be followed by a whole number, at least 0; got x'],
      [['--seed'], 'got nothing'],
    ] as const) {
      const { code, output } = await start(...args).ended
      expect(output).toContain(message)
      expect(code).toBe(2)
    }
  })
})
