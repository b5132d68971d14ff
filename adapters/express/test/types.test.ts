import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')

// In programs of their own: what one declares of `req.outbound` holds for its whole program.
it.each([
  ['declared', new URL('./fixtures/declared/app.ts', import.meta.url)],
  ['undeclared', new URL('./fixtures/undeclared/app.ts', import.meta.url)],
])('types an application with %s policies', async (_name, app) => {
  const project = dirname(fileURLToPath(app))
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [compiler, '--noEmit', '-p', project], (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })
  expect(output).toBe('')
})
