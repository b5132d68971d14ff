import type { History, Rule, Violation } from './history'
import { agreement, nothingUnexpected } from './rules/agreement'
import { tripsWithEvidence } from './rules/evidence'
import { noProbeWithoutPermit, onePermit, oneProbeAtOnce, oneProbePerFence } from './rules/one-permit'
import {
  claimsThatLanded,
  oneClaimPerPermit,
  oneFencePerPeriod,
  successesThatWere,
  verdictsOfTheirOwners,
} from './rules/one-verdict'
import { nothingWhileOpen } from './rules/open-traffic'
import { succession } from './rules/succession'

const RULES: readonly Rule[] = [
  onePermit,
  oneProbeAtOnce,
  oneProbePerFence,
  noProbeWithoutPermit,
  oneFencePerPeriod,
  succession,
  verdictsOfTheirOwners,
  oneClaimPerPermit,
  claimsThatLanded,
  successesThatWere,
  tripsWithEvidence,
  nothingWhileOpen,
  agreement,
  nothingUnexpected,
]

/** What in a history breaks the promise; nothing, one hopes. */
export function judge(history: History): Violation[] {
  return RULES.flatMap((rule) => rule(history))
}
