import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('../..', import.meta.url))

export interface Run {
  readonly code: number | null
  readonly output: string
}

/** Runs some lines as a program of its own, next to the tests; it is killed where it does not end in time. */
export async function run(source: string, ...args: readonly string[]): Promise<Run> {
  const flags = [
    '--conditions=tidegate-source',
    '--import',
    'tsx',
    '--input-type=module',
    '--eval',
    source,
    '--',
  ]
  const child = spawn(process.execPath, [...flags, ...args], { cwd: here, timeout: 15_000 })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

/** Listens, hears of a swap to be sure, closes its client, and has nothing left to do. */
export const LISTENS = `
  const [client, port] = process.argv.slice(-2)
  const { Redis, Cluster } = await import(client)
  const { ioredisStore } = await import('./src/index.ts')
  const redis = process.argv.includes('cluster') ? new Cluster([{ host: '127.0.0.1', port }]) : new Redis(port)
  const { circuits } = ioredisStore(redis)
  const terms = (nonce) => ({ instance: 'a', nonce, window: { kind: 'consecutive' }, cooldownMs: 1, leaseMs: 1 })
  let isHeard = false
  circuits.subscribe('a', () => (isHeard = true))
  for (let turn = 0; !isHeard; turn++) {
    const { state, fence } = await circuits.readState('a', terms('r' + turn))
    await circuits.compareAndSet('a', state, state, fence, terms('s' + turn))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
`
