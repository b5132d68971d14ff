import type { Fault } from './faults'
import { STUMBLES } from './stumbles'

/** What a store may get wrong about leases, and the cases that must find it. */
export const LEASE_FAULTS: Readonly<Record<Fault, string | readonly string[]>> = {
  ...Object.fromEntries(
    Object.keys(STUMBLES).map((what) => [
      `stumbles over a leased name of ${what}`,
      `lends slots of a name of ${what}`,
    ]),
  ),
  'lends one more than the limit': [
    'lends as many slots as the limit, and no more',
    'sees the slots that another process took',
  ],
  'leaves the slot itself out of inUse': 'lends as many slots as the limit, and no more',
  'waits where it lends': 'lends as many slots as the limit, and no more',
  'releases nothing': 'frees a slot that is released',
  'frees the oldest where none is free': 'takes each caller’s limit for its own, and frees no slot by it',
  'takes the first limit for all': 'takes each caller’s limit for its own, and frees no slot by it',
  'lends all names one row': [
    'lends slots of one name whatever is taken of another',
    'keeps the slots of names apart that look alike',
  ],
  'awaits before it lends': [
    'lends exactly the limit to many that come at once',
    'lends one slot to an owner that is delivered many times at once',
  ],
  'shares nothing': 'sees the slots that another process took',
  'counts slots without a clock': [
    'mints later fences after every lease ran out',
    'mints later slots’ fences after everything was flushed',
  ],
  'begins names at the digits it began with': [
    'mints later fences after every lease ran out',
    'mints later slots’ fences after everything was flushed',
  ],
  'forgets the digits of slots before': 'mints later fences while its clock is set back',
  'forgets a name that nobody holds':
    'mints later fences where nobody held a slot while its clock was set back',
  'leaves the owner out of fences': 'mints a greater fence with each slot it lends, with its owner',
  'mints from the millisecond': [
    'mints a greater fence with each slot it lends, with its owner',
    'mints a greater fence for an owner that comes again',
  ],
  'takes any slot’s fence': 'takes no fence for a slot that is not one',
  'refuses an owner that holds a slot': 'answers an acquisition again as it did first',
  'mints with each delivery': 'answers an acquisition again as it did first',
  'lends to an owner as often as it asks': 'answers an acquisition again as it did first',
  'shortens a lease with a delivery': 'shortens no lease by a delivery',
  'keeps the lease with a delivery': 'lengthens a lease by a delivery that asks for more',
  'remembers the fence of an owner': [
    'lends another slot to an owner whose lease ran out',
    'lends another slot to an owner that released its own',
    'releases nothing under a fence that is over',
  ],
  'lends to who held a slot once':
    'lends nothing to an owner whose lease ran out and whose slot is another’s',
  'never frees a slot': 'frees a slot when its lease runs out',
  'lends for twice the lease': 'frees a slot when its lease runs out',
  'waits for the last lease': 'tells how long until the next lease runs out',
  'waits for half a lease': 'tells how long until the next lease runs out',
  'renews nothing': 'holds a slot that is renewed for its lease from now on',
  'says that it renewed nothing': 'holds a slot that is renewed for its lease from now on',
  'renews what ran out': 'renews nothing once the lease ran out',
  'renews what was never lent': 'renews nothing that was released, or never lent',
  'renews whatever the fence': [
    'renews and releases by owner and fence together',
    'lends another slot to an owner whose lease ran out',
  ],
  'releases whatever the fence': [
    'renews and releases by owner and fence together',
    'releases nothing under a fence that is over',
  ],
  'releases any slot': 'takes no harm from a release of what is free',
  'throws at what is free': 'takes no harm from a release of what is free',
  'forgets a name with its shortest lease': 'holds a long lease beside a short one',
  'keeps no lease beyond an hour': 'holds a slot for the whole of a long lease',
  'frees slots where its clock was set back': 'frees no slot because its clock is set back, and blocks none',
  'blocks slots while its clock is behind': 'frees no slot because its clock is set back, and blocks none',
  'escapes leased names badly': 'keeps the slots of names apart that look alike',
  'folds the case of owners': 'tells owners apart by the letter',
  'takes any request': 'refuses an acquisition that is none, and lends nothing',
  'takes any lease': 'refuses a renewal for no time',
  'takes any name': 'refuses a name that is none',
}
