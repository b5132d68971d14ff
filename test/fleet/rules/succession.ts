import type { History, Violation } from '../history'
import type { Period } from '../journal'
import { pairs } from '../periods'

/** Each period can have come of the one before it, as the contract has it. No operator is at work here. */
export function succession({ periods }: History): Violation[] {
  return pairs(periods).flatMap(([before, after]) => {
    const why = objection(before, after)
    return why === undefined
      ? []
      : [`${after.state} ${after.fence} after ${before.state} ${before.fence}: ${why}`]
  })
}

function objection(before: Period, after: Period): string | undefined {
  const isPermit = after.probe !== undefined
  switch (`${before.state} ${after.state}`) {
    case 'closed open':
      return undefined
    case 'open half-open':
      if (!isPermit) return 'it was begun without a permit'
      return after.now < (before.probeAfter ?? 0) ? 'the cooldown was not over' : undefined
    case 'half-open half-open':
      if (isPermit && before.probe !== undefined && after.now < before.probe.until)
        return 'the permit was live'
      if (!isPermit && before.probe === undefined) return 'there was no permit to give back'
      return undefined
    case 'half-open open':
    case 'half-open closed':
      return before.probe === undefined ? 'there was no permit to decide under' : undefined
    default:
      return 'there is no such swap'
  }
}
