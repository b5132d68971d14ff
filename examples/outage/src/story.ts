import { moment } from './moment'

const useColour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined

export type Colour = 'red' | 'green' | 'yellow' | 'dim'

const CODES: Readonly<Record<Colour, string>> = { red: '31', green: '32', yellow: '33', dim: '2' }

export function coloured(text: string, colour: Colour): string {
  return useColour ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text
}

/** Prints what happens, one line each, with the time since the round began. */
export class Story {
  readonly #start: number

  constructor(start: number) {
    this.#start = start
  }

  tell(who: string, what: string, colour?: Colour): void {
    const seconds = ((moment() - this.#start) / 1_000).toFixed(2).padStart(6)
    const line = `${seconds} s  ${who.padEnd(10)}  ${what}`
    console.log(colour === undefined ? line : coloured(line, colour))
  }
}
