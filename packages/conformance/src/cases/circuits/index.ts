import type { Group } from '../../case'
import { declarations } from './declarations'
import { deliveries } from './deliveries'
import { evidence } from './evidence'
import { fences } from './fences'
import { fleets } from './fleets'
import { idleness } from './idleness'
import { interleavings } from './interleavings'
import { names } from './names'
import { permits } from './permits'
import { pushes } from './pushes'
import { swaps } from './swaps'
import { time } from './time'
import { trips } from './trips'
import { windows } from './windows'

export const circuits: readonly Group[] = [
  declarations,
  fences,
  time,
  swaps,
  trips,
  permits,
  evidence,
  windows,
  deliveries,
  fleets,
  idleness,
  pushes,
  names,
  interleavings,
]
