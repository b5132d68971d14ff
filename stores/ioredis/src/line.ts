/** What comes in on a {@link Line}. */
export interface LineEvents {
  /** It is up, or up again: nothing is subscribed to on it. */
  up(): void
  message(channel: string, message: string): void
}

/**
 * A connection to hear on. Best effort: while it is down nothing is heard, nothing
 * is queued, and nothing is thrown.
 */
export interface Line {
  open(): void
  subscribe(channels: readonly string[]): void
  unsubscribe(channels: readonly string[]): void
  close(): void
}

/** Refused by an ACL, or lost with the connection: the next one is asked again. */
export function ignore(answer: Promise<unknown>): void {
  answer.catch(() => {})
}
