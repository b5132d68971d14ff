import { assembleAll } from '../../../../packages/redis-lua/build/scripts'
import type { Scripts } from '../../../../packages/redis-lua/src'
import * as generated from '../../../../packages/redis-lua/src/scripts.generated'

/** The scripts with another clock than the server's. @param time the text of include/time.lua */
export function scriptsWithClock(time: string): Scripts {
  const assembled = new Map(assembleAll({ time }).map(({ name, text, digest }) => [name, { text, digest }]))
  const entries = Object.entries(generated).map(([key, script]) => [
    key,
    { ...script, ...assembled.get(script.name) },
  ])
  return Object.fromEntries(entries) as Scripts
}
