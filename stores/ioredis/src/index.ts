export type { RedisClient, SubscriberClient } from './client'
export { type IoredisStore, type IoredisStoreOptions, ioredisStore } from './ioredis-store'
