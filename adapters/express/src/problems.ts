import { createProblems, lifeOf, type ProblemsOptions } from '@tidegate/http'
import type { ErrorHandler } from './handlers'
import { write } from './write'

/**
 * Turns the errors of policies into answers: 429, 503 or 504 with `Retry-After`
 * and a body of RFC 9457. Every other error passes untouched. Mounted last, before
 * the application's own error handler if it has one.
 *
 * @throws OptionError naming the option, what it takes and what it got
 */
export function problems(options?: ProblemsOptions): ErrorHandler {
  const judge = createProblems(options)
  // Express tells an error handler by its four parameters.
  return (error, req, res, next) => {
    const { isClientGone } = lifeOf(req, res)
    const verdict = judge(error, { accept: req.headers.accept, isClientGone, isHeadSent: res.headersSent })
    if (verdict.go === 'answer') write(res, verdict.answer)
    else if (verdict.go === 'pass') next(error)
  }
}
