/** Now, in ms since the epoch: the one clock of all processes of a machine, finer than `Date.now()`. */
export function moment(): number {
  return performance.timeOrigin + performance.now()
}
