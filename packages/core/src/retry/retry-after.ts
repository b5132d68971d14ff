/** How deep a chain of causes is followed: errors are wrapped a few times, and a cycle must end. */
const CAUSES = 8

/**
 * How long the other side asks to be left alone, in ms; undefined where it does not
 * say. Of an error or a value: `retryAfterMs`, or a `Retry-After` among its `headers`
 * or those of its `response`, in seconds or as a date (RFC 9110, 10.2.3).
 *
 * @param nowMs epoch ms, for dates
 */
export function retryAfterOf(outcome: unknown, nowMs: number): number | undefined {
  try {
    return readRetryAfter(outcome, nowMs)
  } catch {
    // A getter of somebody's threw: then it does not say, and the call ends with what it came to.
    return undefined
  }
}

function readRetryAfter(outcome: unknown, nowMs: number): number | undefined {
  let link = outcome
  for (let depth = 0; depth < CAUSES && typeof link === 'object' && link !== null; depth++) {
    const { retryAfterMs, headers, response, cause } = link as Record<string, unknown>
    if (typeof retryAfterMs === 'number' && retryAfterMs >= 0) return retryAfterMs
    const header = headerOf(headers) ?? headerOf((response as { headers?: unknown } | undefined)?.headers)
    const asked = header === undefined ? undefined : parse(header, nowMs)
    if (asked !== undefined) return asked
    link = cause
  }
  return undefined
}

function headerOf(headers: unknown): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined
  const { get } = headers as { get?: unknown }
  // A Headers, or what has its method: axios' headers, a Map.
  const own = typeof get === 'function' ? get.call(headers, 'retry-after') : undefined
  if (typeof own === 'string') return own
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === 'retry-after' && (typeof value === 'string' || typeof value === 'number'))
      return String(value)
  }
  return undefined
}

function parse(header: string, nowMs: number): number | undefined {
  const text = header.trim()
  if (/^\d+$/.test(text)) return 1_000 * Number(text)
  // A number with a sign or a fraction is no delay, and would be some year to Date.
  const date = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs)
}
