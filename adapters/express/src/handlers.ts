import type { IncomingMessage, ServerResponse } from 'node:http'

/*
 * By their structure and not as Express types them: the handlers of Express 5 and
 * of Express 4 are two types, of which neither is the other, and these are both.
 */

export type Next = (error?: unknown) => void

export type Handler = (req: IncomingMessage, res: ServerResponse, next: Next) => void

export type ErrorHandler = (error: unknown, req: IncomingMessage, res: ServerResponse, next: Next) => void
