const EVERY_MS = 20
/** So late a tick is worth being told: the process heard nothing meanwhile. */
const NOTABLE_MS = 20

/**
 * Tells when this process did not get its turn for a while. It cannot have heard of
 * anything in that time, and must not be blamed for it.
 *
 * @param onStall is given when it began, epoch ms
 */
export function watchStalls(onStall: (from: number) => void): () => void {
  let last = Date.now()
  const timer = setInterval(() => {
    const now = Date.now()
    if (now - last >= EVERY_MS + NOTABLE_MS) onStall(last)
    last = now
  }, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
