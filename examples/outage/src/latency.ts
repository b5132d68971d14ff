/** The value below which a share of all lie; `undefined` of none. */
export function percentile(all: readonly number[], share: number): number | undefined {
  return all.toSorted((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * share))]
}

export function milliseconds(value: number | undefined): string {
  return value === undefined ? '-' : `${value.toFixed(1)} ms`
}
