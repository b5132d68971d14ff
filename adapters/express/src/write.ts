import type { ServerResponse } from 'node:http'
import { type Answer, REPLACED_HEADERS } from '@tidegate/http'

/** Answers a request whose head is not sent yet. */
export function write(res: ServerResponse, { status, headers, body }: Answer): void {
  for (const name of REPLACED_HEADERS) res.removeHeader(name)
  res.statusCode = status
  // A phrase that a handler chose for the answer it meant to give would stay with ours.
  res.statusMessage = ''
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  res.end(body)
}
