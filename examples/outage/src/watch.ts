import type { Late, Move, Probe } from './facts'
import type { Member } from './fleet'
import { milliseconds, percentile } from './latency'
import type { Answer } from './load'
import type { Colour, Story } from './story'
import type { Told } from './told'

/** What is seen of a round while it goes on. */
export interface Seen {
  readonly moves: Move[]
  readonly probes: Probe[]
  readonly late: Late[]
  readonly answers: Answer[]
}

const COLOURS: Readonly<Record<string, Colour>> = { open: 'red', closed: 'green', 'half-open': 'yellow' }

/** Notes what the circuit does in one instance, and tells it. */
export function watch(member: Member, story: Story, seen: Seen): void {
  const { name } = member
  const who = `instance ${name}`
  let state = 'closed'
  let period: string | undefined
  let openedAt = 0
  const on: { [Name in Told['name']]: (told: Extract<Told, { name: Name }>) => void } = {
    transition({ at, from, to, fence, by, counters }) {
      seen.moves.push({ at, instance: name, from, to, fence, left: period, by })
      state = to
      period = fence
      const why = by === 'here' ? reason(from, to, counters) : '  (hears of it)'
      story.tell(who, `${to.padEnd(9)}  fence ${fence}${why}`, by === 'here' ? COLOURS[to] : 'dim')
      if (from === 'closed') openedAt = at
      if (to === 'closed')
        story.tell(who, refusals(seen.answers, name, openedAt), by === 'peer' ? 'dim' : 'green')
    },
    probe({ at, fence }) {
      // Half-open again, from half-open, is no other state and yet another period.
      period = fence
      seen.probes.push({ at, instance: name, fence })
      story.tell(who, `PROBES     fence ${fence}`, 'yellow')
    },
    late({ at, fence, outcome }) {
      seen.late.push({ at, instance: name, fence, outcome })
      // Calls that were on their way when the circuit opened are late too, and many.
      if (state !== 'closed') return
      story.tell(who, `LATE       fence ${fence}  a ${outcome}`)
      story.tell(who, 'is still closed: that fence names a period that is over')
    },
  }
  member.onTold = (told) => on[told.name](told as never)
}

function reason(from: string, to: string, counters: { successes: number; failures: number }): string {
  if (from === 'closed') return `  ${counters.failures} of ${counters.failures + counters.successes} failed`
  if (from === 'half-open') return to === 'closed' ? '  its probe succeeded' : '  its probe failed'
  return ''
}

function refusals(answers: readonly Answer[], name: string, since: number): string {
  const took = answers
    .filter(({ instance, status, at }) => instance === name && status === 503 && at >= since)
    .map(({ tookMs }) => tookMs)
  const [median, p99] = [percentile(took, 0.5), percentile(took, 0.99)].map(milliseconds)
  return `had refused ${took.length} calls, in the median after ${median}, p99 ${p99}`
}
