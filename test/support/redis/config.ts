/**
 * Directives of redis.conf and their values, as they are written there, such as
 * `{ maxmemory: '10mb' }`; a list for what is given several times, such as `user`.
 */
export type RedisConfig = Readonly<Record<string, string | number | readonly string[]>>

/** The text of a redis.conf. */
export function configText(config: RedisConfig): string {
  return Object.entries(config)
    .flatMap(([directive, value]) => [value].flat().map((one) => `${directive} ${one === '' ? '""' : one}\n`))
    .join('')
}
