/** What was consumed, for it to be settled: text to those who carry it, `<born>.<seq>.<at>.<cost>` to a store. */
export interface Reservation {
  /** The life of the key in which it was made: when that began, by the store's clock in microseconds. */
  readonly born: number
  /** Which of that life's consumptions it was, from 1 on. */
  readonly seq: number
  /** When, by the clock of the key, in ms. */
  readonly at: number
  readonly cost: number
}

const FORM = /^(\d{1,16})\.(\d{1,16})\.(\d{1,16})\.(\d{1,16})$/

export function formatReservation({ born, seq, at, cost }: Reservation): string {
  return `${born}.${seq}.${at}.${cost}`
}

/** Undefined where it is none: it was denied, or does not come from a store. */
export function parseReservation(text: string): Reservation | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [born, seq, at, cost] = match.slice(1).map(Number) as [number, number, number, number]
  return { born, seq, at, cost }
}
