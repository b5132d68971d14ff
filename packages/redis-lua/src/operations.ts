import { decode } from './decode'
import { keyOf } from './names'
import { type Arguments, argumentsOf, type Decoded, type Format, type Runnable, type Script } from './script'

/** Runs a script: its keys and arguments out, whatever Redis replied back. */
export type Send = (script: Runnable, keys: readonly string[], args: readonly string[]) => Promise<unknown>

/** Scripts by what they take and answer, over whatever sends them. */
export class Operations {
  readonly #send: Send
  readonly #prefix: string

  /** @param prefix of every key, without braces */
  constructor(send: Send, prefix: string) {
    this.#send = send
    this.#prefix = prefix
  }

  /**
   * @param name of what it is about; all its keys have it
   * @throws UnreadableReplyError
   */
  async run<Args extends Arguments, Reply extends Format>(
    script: Script<Args, Reply>,
    name: string,
    values: Args,
  ): Promise<Decoded<Reply>> {
    const keys = script.keys.map((part) => keyOf(this.#prefix, name, part))
    const reply = await this.#send(script, keys, argumentsOf(script, values))
    return decode(script.name, script.reply, reply)
  }
}
