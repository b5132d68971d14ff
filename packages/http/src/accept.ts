/** A header beyond this length is no client's wish; what it says is not looked at. */
const LONGEST = 2_048

const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/**
 * Whether an `Accept` header asks for `text/plain` rather than for JSON. A header
 * that is missing, too long or says neither asks for JSON, and so does one that
 * takes both alike: a browser's list takes anything, a problem is better read by programs.
 */
export function prefersText(accept: string | undefined): boolean {
  if (accept === undefined || accept.length > LONGEST) return false
  const text = new Wish('text', 'plain')
  const problem = new Wish('application', 'problem+json')
  const json = new Wish('application', 'json')
  for (const range of split(accept, ',')) {
    const [type = '', ...parameters] = split(range, ';').map((part) => part.trim().toLowerCase())
    const quality = qualityOf(parameters)
    // A weight that is none makes the range one that was not meant for us.
    if (quality === undefined) continue
    for (const wish of [text, problem, json]) wish.hear(type, quality)
  }
  return text.quality > Math.max(problem.quality, json.quality)
}

/** How much one media type is wished for, as far as the header was heard. */
class Wish {
  /** The ranges that take the type, the closest first: that one counts, whatever the others say (RFC 9110, 12.5.1). */
  readonly #ranges: readonly string[]
  readonly #heard = new Map<string, number>()

  constructor(type: string, subtype: string) {
    this.#ranges = [`${type}/${subtype}`, `${type}/*`, '*/*']
  }

  /** Of a range that is there twice the larger weight counts. */
  hear(range: string, quality: number): void {
    if (this.#ranges.includes(range)) this.#heard.set(range, Math.max(this.#heard.get(range) ?? 0, quality))
  }

  get quality(): number {
    const closest = this.#ranges.find((range) => this.#heard.has(range))
    return closest === undefined ? 0 : (this.#heard.get(closest) ?? 0)
  }
}

/** The weight of a range, 1 where there is none; undefined if it is not a weight. */
function qualityOf(parameters: readonly string[]): number | undefined {
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  if (weight === undefined) return 1
  return QUALITY.test(weight) ? Number(weight) : undefined
}

/** Splits at a separator that is not inside quotes, in one pass. */
function split(text: string, separator: string): string[] {
  const parts: string[] = []
  let isQuoted = false
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (isQuoted && character === '\\') at++
    else if (character === '"') isQuoted = !isQuoted
    else if (character === separator && !isQuoted) {
      parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  parts.push(text.slice(from))
  return parts
}
