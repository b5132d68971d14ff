import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Collects garbage, each time it is called, and says how many bytes of the heap are left in use. */
export function heapInUse(): () => number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  return () => {
    collect()
    collect()
    return process.memoryUsage().heapUsed
  }
}
