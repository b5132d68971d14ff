import type { ExecuteOptions, Protected } from '@tidegate/core'
import { either } from './either'
import type { RequestLife } from './life'

/** What can be bound to a request: every policy. */
export interface Bindable {
  readonly name: string
  execute<T>(fn: Protected<T>, options?: ExecuteOptions): Promise<T>
}

/**
 * A policy as one request sees it. There is no `wrap`: what it gave would be as
 * short-lived as the request, and a policy's own may read its key from the arguments.
 */
export type Bound<Policy extends Bindable> = Pick<Policy, keyof Policy & ('name' | 'execute' | 'state')>

/** Runs calls under a policy, for as long as a request matters. */
export class BoundPolicy implements Bindable {
  readonly #policy: Bindable & { readonly state?: unknown }
  readonly #life: RequestLife
  readonly #deadlineMs: number | undefined

  constructor(policy: Bindable, life: RequestLife, deadlineMs: number | undefined) {
    this.#policy = policy
    this.#life = life
    this.#deadlineMs = deadlineMs
  }

  get name(): string {
    return this.#policy.name
  }

  /** Of a circuit; undefined for a policy that has none. */
  get state(): unknown {
    return this.#policy.state
  }

  /**
   * As the policy's own, ended by the request as well as by the caller: by whichever
   * signal aborts first, and by the earlier of the two deadlines.
   */
  async execute<T>(fn: Protected<T>, options?: ExecuteOptions): Promise<T> {
    const deadlineMs = this.#deadline(options?.deadlineMs)
    const { signal } = this.#life
    const own = options?.signal
    if (own === undefined || own === signal)
      return this.#policy.execute(fn, { ...options, signal, deadlineMs })
    const both = either(own, signal)
    try {
      return await this.#policy.execute(fn, { ...options, signal: both.signal, deadlineMs })
    } finally {
      both.end()
    }
  }

  #deadline(own: number | undefined): number | undefined {
    if (this.#deadlineMs === undefined) return own
    const left = this.#life.leftOf(this.#deadlineMs)
    if (own === undefined) return left
    // What is no number is for the policy to refuse, not to be compared.
    return typeof own === 'number' ? Math.min(own, left) : own
  }
}
