/** Of the random tests whose title names it; `TIDEGATE_SEED` replays one. */
export const seed: number = Number(process.env.TIDEGATE_SEED ?? Math.floor(Math.random() * 2 ** 31))
export const seeded: string = `with seed ${seed} (TIDEGATE_SEED replays it)`
