import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const core = fileURLToPath(new URL('../src/index.ts', import.meta.url))
const errors = fileURLToPath(new URL('../src/errors.ts', import.meta.url))

/** Runs a program of its own until it ends by itself; what it prints tells how far it came. */
async function run(program: string): Promise<{ code: number | null; output: string }> {
  const source = `import * as core from ${JSON.stringify(core)}\n${program}`
  const args = ['--conditions=tidegate-source', '--import', 'tsx', '--input-type=module', '--eval', source]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const [code] = await once(child, 'close')
  return { code, output: output.trim() }
}

describe('a process', () => {
  it('is not kept alive by import, construction, subscriptions or outcomes to be sent', async () => {
    const { code, output } = await run(`
      const store = core.memoryStore()
      const breaker = core.circuitBreaker({ name: 'a', store, syncMs: 1000 })
      const family = core.circuitBreaker.keyed({ name: 'b' })
      await breaker.execute(() => {}); await breaker.execute(() => {}); await family.for('k').execute(() => {})
      await breaker.execute(() => {}, { deadlineMs: 60_000 })
      const start = performance.now()
      process.on('exit', () => console.log(performance.now() - start < 900 ? 'ended by itself' : 'was kept'))
    `)
    expect({ code, output }).toEqual({ code: 0, output: 'ended by itself' })
  })

  it('is kept alive by a call that waits for its time limit', async () => {
    const { output } = await run(`
      const breaker = core.circuitBreaker({ name: 'a' })
      breaker.execute(() => new Promise(() => {}), { deadlineMs: 50 }).catch((error) => console.log(error.code))
    `)
    expect(output).toBe('TIMEOUT')
  })

  it('knows an error of another copy of the package', async () => {
    const { output } = await run(`
      const other = await import(${JSON.stringify(`${errors}?copy`)})
      const error = new other.CircuitOpenError('a', 5)
      console.log([
        other.CircuitOpenError !== core.CircuitOpenError,
        error instanceof core.CircuitOpenError,
        error instanceof core.TidegateError,
        error instanceof core.TimeoutError,
        new Error('x') instanceof core.TidegateError,
        class extends core.CircuitOpenError {}[Symbol.hasInstance](error),
      ].join())
    `)
    expect(output).toBe('true,true,true,false,false,false')
  })
})
