import type { Group } from '../../case'
import { bounds } from './bounds'
import { commands } from './commands'
import { crowds } from './crowds'
import { decisions } from './decisions'
import { identity } from './identity'
import { lives } from './lives'
import { peeks } from './peeks'
import { settlements } from './settlements'
import { waits } from './waits'

export const limits: readonly Group[] = [
  bounds,
  waits,
  decisions,
  peeks,
  settlements,
  identity,
  lives,
  crowds,
  commands,
]
