import { setTimeout as sleep } from 'node:timers/promises'

const EVERY_MS = 10
const DEADLINE_MS = 15_000

/**
 * Asks again and again until the answer is not false or undefined, and resolves with it.
 *
 * @param what ends the sentence "gave up waiting for ..."
 */
export async function until<T>(
  what: string,
  ask: () => T | false | undefined | Promise<T | false | undefined>,
  deadlineMs: number = DEADLINE_MS,
): Promise<T> {
  const end = performance.now() + deadlineMs
  while (true) {
    const answer = await ask()
    if (answer !== false && answer !== undefined) return answer
    if (performance.now() > end) throw new Error(`gave up waiting for ${what} after ${deadlineMs} ms`)
    await sleep(EVERY_MS)
  }
}
