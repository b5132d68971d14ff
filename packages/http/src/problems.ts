import { type Answer, answerTo } from './answer'
import { isFlag, readOptions } from './options'
import { problemOf } from './problem'

export interface ProblemsOptions {
  /** Whether the JSON body names the circuit that is open. Names of dependencies are nobody else's business. @default false */
  readonly reveal?: boolean | undefined
}

/** What there is to know when an error arrives where the framework takes errors. */
export interface ErrorSituation {
  /** The request's header; it may hold anything. */
  readonly accept: string | undefined
  readonly isClientGone: boolean
  readonly isHeadSent: boolean
}

/**
 * - `pass`: not ours; it goes on untouched.
 * - `drop`: nobody is there to be answered, and nothing went wrong that anybody should read about.
 */
export type ErrorVerdict =
  | { readonly go: 'pass' }
  | { readonly go: 'drop' }
  | { readonly go: 'answer'; readonly answer: Answer }

/** What becomes of an error. */
export type Problems = (error: unknown, situation: ErrorSituation) => ErrorVerdict

/** @throws OptionError naming the option, what it takes and what it got */
export function createProblems(options?: ProblemsOptions): Problems {
  const { reveal = false } = readOptions('problems', options, { reveal: isFlag })
  return (error, { accept, isClientGone, isHeadSent }) => {
    const problem = problemOf(error)
    // The end of a call because its client left is no error; a bug that shows after he left still is one.
    if (isClientGone && (problem !== undefined || isAbort(error))) return { go: 'drop' }
    if (problem === undefined || isHeadSent) return { go: 'pass' }
    return { go: 'answer', answer: answerTo(problem, accept, reveal) }
  }
}

/** By its name: what a function that was told to stop throws is often an error of its own. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
