import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { until } from '../until'

const program = fileURLToPath(new URL('abandon.ts', import.meta.url))

test('takes a frozen server and its folder along with a process that is killed', async () => {
  const { owner, left } = await abandoned('process')
  owner.kill('SIGKILL')
  await gone(left)
})

test('takes them along with a worker thread that is terminated, while its process lives on', async () => {
  const { owner, left } = await abandoned('thread')
  try {
    owner.stdin?.write('terminate\n')
    await gone(left)
    expect(owner.exitCode).toBe(null)
  } finally {
    owner.kill('SIGKILL')
  }
})

interface Left {
  readonly port: number
  readonly folder: string
}

async function abandoned(by: 'process' | 'thread'): Promise<{ owner: ChildProcess; left: Left }> {
  const owner = spawn(process.execPath, ['--import', 'tsx', program, by], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = await once(owner.stdout, 'data')
  const left: Left = JSON.parse(String(line))
  expect(await accepts(left.port)).toBe(true)
  expect(existsSync(left.folder)).toBe(true)
  return { owner, left }
}

async function gone({ port, folder }: Left): Promise<void> {
  await until('the server to be gone', async () => !(await accepts(port)))
  await until('its folder to be gone', () => !existsSync(folder))
}

/** Whether somebody listens; for a frozen process the system accepts. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
