import { assembleAll } from '../../../../packages/redis-lua/build/scripts'
import type { CircuitScripts } from '../../../../packages/redis-lua/src/circuits'
import * as generated from '../../../../packages/redis-lua/src/scripts.generated'

/** The scripts of circuits with another clock than the server's. @param time the text of include/time.lua */
export function scriptsWithClock(time: string): CircuitScripts {
  const assembled = new Map(assembleAll({ time }).map(({ name, text, digest }) => [name, { text, digest }]))
  const { readState, compareAndSet, record, forget } = generated
  return {
    readState: { ...readState, ...assembled.get(readState.name) },
    compareAndSet: { ...compareAndSet, ...assembled.get(compareAndSet.name) },
    record: { ...record, ...assembled.get(record.name) },
    forget: { ...forget, ...assembled.get(forget.name) },
  }
}
