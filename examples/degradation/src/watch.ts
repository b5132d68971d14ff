import { setTimeout as sleep } from 'node:timers/promises'
import { Catalogue } from './catalogue'
import { startShop } from './shop'
import { DEGRADATIONS, ROUTES } from './visitor'

const EVERY_MS = 10_000

/** Serves the shop to whoever looks, and takes its dependency down every other while. */
export async function serveUntil(stop: AbortSignal): Promise<void> {
  const catalogue = new Catalogue()
  const shop = await startShop(await catalogue.listen())
  for (const name of DEGRADATIONS) console.log(`${name.padEnd(13)}${shop.url}${ROUTES[name]}`)
  shop.circuit.on('transition', ({ from, to }) => console.log(`the circuit goes from ${from} to ${to}`))
  while (!stop.aborted) {
    console.log(`the dependency is ${catalogue.isDown ? 'DOWN' : 'up'}`)
    await sleep(EVERY_MS, undefined, { signal: stop }).catch(() => {})
    catalogue.isDown = !catalogue.isDown
  }
  await shop.close()
  await catalogue.close()
}
