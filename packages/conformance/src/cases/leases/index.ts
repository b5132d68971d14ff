import type { Group } from '../../case'
import { commands } from './commands'
import { deliveries } from './deliveries'
import { fences } from './fences'
import { names } from './names'
import { slots } from './slots'
import { terms } from './terms'

export const leases: readonly Group[] = [slots, fences, deliveries, terms, names, commands]
