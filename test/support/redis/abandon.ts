// Starts a Redis and leaves it behind: prints its port and folder, then awaits its own violent end.
// With `thread` it does so in a worker thread, which it terminates when it reads a line.
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { startRedis } from './index'

/** On Node.js 20 a worker thread does not inherit what `--import tsx` gave its process. */
const IN_WORKER = `
const [tsx, program] = require('node:worker_threads').workerData
import(tsx).then(({ tsImport }) => tsImport(program, program))`

interface Left {
  readonly port: number
  readonly folder: string
}

if (isMainThread && process.argv[2] === 'thread') {
  const worker = new Worker(IN_WORKER, {
    eval: true,
    workerData: [import.meta.resolve('tsx/esm/api'), import.meta.url],
  })
  worker.once('message', (left: Left) => tell(left))
  process.stdin.once('data', () => worker.terminate())
} else {
  const left = await leave()
  if (parentPort) parentPort.postMessage(left)
  else tell(left)
}

async function leave(): Promise<Left> {
  const redis = await startRedis()
  const [, folder] = (await redis.command('CONFIG', 'GET', 'dir')) as [string, string]
  // Frozen, it would not hear of anything that a signal could ask of it.
  await redis.freeze()
  return { port: redis.port, folder }
}

function tell(left: Left): void {
  console.log(JSON.stringify(left))
}
