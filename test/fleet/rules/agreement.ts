import type { History, Violation } from '../history'

/** In the end everybody who lives sees the circuit as it is. */
export function agreement({ periods, finals }: History): Violation[] {
  const last = periods.at(-1)
  if (last === undefined) return []
  return [...finals]
    .filter(([, { state, fence }]) => state !== last.state || fence !== last.fence)
    .map(
      ([instance, { state, fence }]) =>
        `${instance} ends with ${state} ${fence}, the journal with ${last.state} ${last.fence}`,
    )
}

/** No call comes to anything but an answer, a refusal or a time limit, and no process ends by itself. */
export function nothingUnexpected({ tellings }: History): Violation[] {
  return tellings.flatMap(({ instance, report }) =>
    report.kind === 'unexpected' ? [`${instance}: ${report.error}`] : [],
  )
}
