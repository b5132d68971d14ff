/**
 * Below every system's range for outgoing connections: a port stays free while its
 * server is down, to be restarted on it. Cluster nodes also listen 10000 above.
 */
const FIRST = 11_000
const COUNT = 10_000

/** How often to try another port before something else must be wrong. */
const TRIES = 20

/**
 * Hands ports to `listen` until it does not find its port taken. Nobody can tell
 * beforehand which are free; only who listens knows.
 *
 * @param listen gives undefined when its port is taken
 */
export async function onFreePort<T>(listen: (port: number) => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < TRIES; tries++) {
    const listening = await listen(FIRST + Math.floor(Math.random() * COUNT))
    if (listening !== undefined) return listening
  }
  throw new Error(`${TRIES} ports at random were all taken`)
}
