/**
 * What this store needs of a client of ioredis: a `Redis` or a `Cluster`, of version
 * 5 or 6, as its user configured it.
 */
export interface RedisClient {
  /** 'wait' before a lazy client first connects, 'ready' while it may be sent commands. */
  readonly status: string
  readonly options: { readonly keyPrefix?: string | undefined; readonly db?: number | undefined }
  evalsha(digest: string, numberOfKeys: number, ...keysAndArgs: string[]): Promise<unknown>
  eval(text: string, numberOfKeys: number, ...keysAndArgs: string[]): Promise<unknown>
  ping(): Promise<unknown>
  duplicate(...args: never[]): unknown
  /** Of a Cluster: its connections to nodes. */
  nodes?(): readonly RedisNode[]
}

/** One connection, to one server. */
export interface RedisNode {
  readonly status: string
  duplicate(options: never): SubscriberClient
}

/** What listening takes. A connection that listens can do nothing else, so it is another one. */
export interface SubscriberClient {
  readonly status: string
  subscribe(...channels: string[]): Promise<unknown>
  unsubscribe(...channels: string[]): Promise<unknown>
  on(event: 'message', listener: (channel: string, message: string) => void): unknown
  on(event: 'connect' | 'ready' | 'end' | 'error', listener: () => void): unknown
  off(event: 'message', listener: (channel: string, message: string) => void): unknown
  off(event: 'ready', listener: () => void): unknown
  disconnect(): void
}
