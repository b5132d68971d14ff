import type { Runnable, Send } from '@tidegate/redis-lua'
import type { RedisClient } from './client'

/**
 * Runs scripts by their digest, and by their text where the server does not know it:
 * after a restart, a failover, SCRIPT FLUSH. Not by `defineCommand`, which would
 * leave commands of ours on the user's client.
 */
export function sendOver(redis: RedisClient): Send {
  return async ({ digest, text }: Runnable, keys, args) => {
    try {
      return await redis.evalsha(digest, keys.length, ...keys, ...args)
    } catch (error) {
      if (!isNoScript(error)) throw error
      return await redis.eval(text, keys.length, ...keys, ...args)
    }
  }
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}
