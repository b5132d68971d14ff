import type { CircuitBreaker, CircuitEvents } from '@tidegate/core'
import { moment } from './moment'

type Events = Pick<CircuitEvents, 'transition' | 'probe' | 'late'>

/** What an instance tells of its circuit, and when that was. It may come from another process. */
export type Told = {
  [Name in keyof Events]: { readonly name: Name; readonly at: number } & Events[Name]
}[keyof Events]

/** Tells a listener of what a breaker does. */
export function tell(breaker: CircuitBreaker, listener: (told: Told) => void): void {
  breaker.on('transition', (event) => listener({ name: 'transition', at: moment(), ...event }))
  breaker.on('probe', (event) => listener({ name: 'probe', at: moment(), ...event }))
  breaker.on('late', (event) => listener({ name: 'late', at: moment(), ...event }))
}
