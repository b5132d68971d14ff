/**
 * What this store needs of a client of ioredis: a `Redis` or a `Cluster`, of version
 * 5 or 6, as its user configured it.
 */
export interface RedisClient {
  /** 'wait' before a lazy client first connects, 'ready' while it may be sent commands. */
  readonly status: string
  evalsha(digest: string, numberOfKeys: number, ...keysAndArgs: string[]): Promise<unknown>
  eval(text: string, numberOfKeys: number, ...keysAndArgs: string[]): Promise<unknown>
  ping(): Promise<unknown>
  duplicate(...args: never[]): SubscriberClient
}

/** What listening takes. A connection that listens can do nothing else, so it is another one. */
export interface SubscriberClient {
  readonly status: string
  subscribe(...channels: string[]): Promise<unknown>
  unsubscribe(...channels: string[]): Promise<unknown>
  on(event: string, listener: (...args: never[]) => void): unknown
  off(event: string, listener: (...args: never[]) => void): unknown
  disconnect(): void
}
