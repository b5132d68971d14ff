/**
 * How a field of a reply is read. A list names what its numbers stand for, from 0 on;
 * `integers` are all that are left, and `string` alone is no integer.
 */
export type Kind = 'integer' | 'optional' | 'flag' | 'text' | 'string' | 'integers' | readonly string[]

/** Fields by name, in the order in which they come. */
export type Format = Readonly<Record<string, Kind>>

/** What a reply of this format is, once it was read. */
export type Decoded<F extends Format> = { readonly [Name in keyof F]: Value<F[Name]> }

type Value<K extends Kind> = K extends 'integer'
  ? number
  : K extends 'optional'
    ? number | undefined
    : K extends 'flag'
      ? boolean
      : K extends 'integers'
        ? readonly number[]
        : K extends readonly (infer One)[]
          ? One
          : string

export type Arguments = Readonly<Record<string, string | number | boolean | undefined>>

/** One operation as Redis runs it. */
export interface Runnable {
  readonly name: string
  readonly text: string
  /** SHA-1 of the text, for EVALSHA. */
  readonly digest: string
}

/** What it takes and answers, by name and in order. */
export interface Script<Args extends Arguments, Reply extends Format> extends Runnable {
  /** What it calls its keys; the names the keys end in. */
  readonly keys: readonly string[]
  readonly args: readonly (keyof Args & string)[]
  readonly reply: Reply
}

/** The arguments in the order in which the script takes them. */
export function argumentsOf<Args extends Arguments>(
  script: Script<Args, Format>,
  values: Args,
): readonly string[] {
  return script.args.map((name) => {
    const value = values[name]
    if (typeof value === 'boolean') return value ? '1' : '0'
    return value === undefined ? '' : String(value)
  })
}
