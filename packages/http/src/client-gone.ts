/**
 * Why a call ends whose client went away. Named as an abort is everywhere, so
 * that a breaker takes it for what it is: no evidence of how the dependency is.
 */
export class ClientGoneError extends Error {
  override readonly name = 'AbortError'
  /** The code of Node's own. */
  readonly code = 'ABORT_ERR'

  constructor() {
    super('the client is gone')
  }
}
