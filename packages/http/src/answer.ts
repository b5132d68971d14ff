import { prefersText } from './accept'
import { type Problem, TITLES } from './problem'

/** An answer for an adapter to write, as it is. Node.js itself leaves the body out where the request was a HEAD. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Headers that speak of another body than the one that is written now. A handler
 * that set them before its call failed meant the answer it did not get to give;
 * with its `Content-Encoding`, ours could not be read.
 */
export const REPLACED_HEADERS: readonly string[] = [
  'Content-Disposition',
  'Content-Encoding',
  'Content-Language',
  'Content-Location',
  'Content-Range',
  'ETag',
  'Last-Modified',
  'Trailer',
  'Transfer-Encoding',
]

/**
 * A problem as an answer: RFC 9457, or plain text for a client that prefers it.
 * Nothing of the error's message is in it.
 *
 * @param accept the request's header; it may hold anything
 * @param reveal whether the JSON names the circuit
 */
export function answerTo(problem: Problem, accept: string | undefined, reveal: boolean): Answer {
  const { status, retryAfter } = problem
  const isText = prefersText(accept)
  const body = isText ? textOf(problem) : jsonOf(problem, reveal)
  return {
    status,
    headers: {
      'Content-Type': isText ? 'text/plain; charset=utf-8' : 'application/problem+json',
      'Content-Length': String(Buffer.byteLength(body)),
      // It is over in a moment: a cache that kept it would make the outage longer.
      'Cache-Control': 'no-store',
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    },
    body,
  }
}

function jsonOf({ status, code, retryAfter, circuit }: Problem, reveal: boolean): string {
  const shown = reveal ? { circuit } : {}
  return JSON.stringify({ type: 'about:blank', title: TITLES[status], status, code, retryAfter, ...shown })
}

function textOf({ status, code, retryAfter }: Problem): string {
  const when = retryAfter === undefined ? '' : `, retry after ${retryAfter} s`
  return `${TITLES[status]} (${code}${when})\n`
}
