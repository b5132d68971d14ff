// One instance in a process of its own. Ends when its parent does, or says so.
import { ioredisStore } from '@tidegate/store-ioredis'
import { Redis } from 'ioredis'
import type { Assignment, Message } from './fleet'
import { startInstance } from './instance'
import { tell } from './told'

const { name, dependency, prefix, redisUrl } = JSON.parse(process.env.TIDEGATE_DEMO ?? '{}') as Assignment
const redis = new Redis(redisUrl)
redis.on('error', () => {})
const store = ioredisStore(redis, { prefix })
const instance = await startInstance(name, store, dependency)
tell(instance.payments, say)
say({ url: instance.url })

// Ctrl-C goes to all processes of a terminal; the parent's way to end it is another.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
process.once('disconnect', async () => {
  await instance.close()
  await store.close()
  redis.disconnect()
})

function say(message: Message): void {
  if (process.connected) process.send?.(message)
}
