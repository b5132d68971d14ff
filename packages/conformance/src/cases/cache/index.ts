import type { Group } from '../../case'
import { ages } from './ages'
import { commands } from './commands'
import { keys } from './keys'
import { values } from './values'

export const cache: readonly Group[] = [values, ages, keys, commands]
