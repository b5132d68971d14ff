/** The most instances a circuit remembers. */
export const MAX_INSTANCES = 1_024

/** What a circuit remembers of one breaker in one process. */
export interface Instance {
  readonly id: string
  touchedAt: number
  /** The number of its latest tally that was counted. */
  seq: number
  /**
   * The nonce of its latest swap that the present did not allow. Delivered again,
   * it stays refused: by then its caller has long gone on without it.
   */
  refused: string | undefined
}

/**
 * The instances of one circuit, the longest untouched first. An array and no map:
 * in one process there are few, mostly one, for each of many circuits.
 */
export type Instances = Instance[]

/** The entry of an instance, which is the latest from now on. */
export function touchInstance(instances: Instances, id: string, now: number): Instance {
  const last = instances.length - 1
  for (let index = last; index >= 0; index--) {
    const instance = instances[index] as Instance
    if (instance.id !== id) continue
    instance.touchedAt = now
    if (index < last) {
      instances.splice(index, 1)
      instances.push(instance)
    }
    return instance
  }
  if (instances.length >= MAX_INSTANCES) instances.shift()
  const instance = newInstance(id, now)
  instances.push(instance)
  return instance
}

export function newInstance(id: string, now: number): Instance {
  return { id, touchedAt: now, seq: -1, refused: undefined }
}

/** How many touched the circuit within the span; forgets the others. */
export function countInstances(instances: Instances, spanMs: number, now: number): number {
  let gone = 0
  while (gone < instances.length && now - (instances[gone] as Instance).touchedAt > spanMs) gone++
  if (gone > 0) instances.splice(0, gone)
  return instances.length
}
