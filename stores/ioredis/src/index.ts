export type { RedisClient, SubscriberClient } from './client'
export { type IoredisStoreOptions, ioredisStore } from './ioredis-store'
