import { setTimeout as sleep } from 'node:timers/promises'
import { Catalogue } from './catalogue'
import type { Facts, Visit, Weather } from './facts'
import { startShop } from './shop'
import { DEGRADATIONS, visit } from './visitor'

/** Visits of each route while the dependency is up, and while it is down. */
const VISITS = 20

/** When a circuit that does not close again is given up, in ms. */
const PATIENCE_MS = 20_000

/** The dependency is up, goes down, and comes back; each time all routes are asked for, in turn. */
export async function playRound(): Promise<Facts> {
  const catalogue = new Catalogue()
  const shop = await startShop(await catalogue.listen())
  const visits: Visit[] = []
  let probesWhileDown = 0
  shop.circuit.on('probe', () => {
    if (catalogue.isDown) probesWhileDown++
  })
  const visitAll = async (weather: Weather): Promise<boolean> => {
    const before = visits.length
    for (const degradation of DEGRADATIONS) {
      visits.push({ weather, degradation, worth: await visit(shop.url, degradation) })
    }
    return visits.slice(before).every(({ worth }) => worth === 'whole')
  }
  try {
    for (let turn = 0; turn < VISITS; turn++) await visitAll('up')
    catalogue.isDown = true
    for (let turn = 0; turn < VISITS; turn++) await visitAll('down')
    catalogue.isDown = false
    // How long that takes is for the cooldown to say: asked until it is so.
    const end = performance.now() + PATIENCE_MS
    while (!(await visitAll('up again')) && performance.now() < end) await sleep(20)
  } finally {
    await shop.close()
    await catalogue.close()
  }
  return { visits, reachedWhileDown: catalogue.reachedWhileDown, probesWhileDown }
}
