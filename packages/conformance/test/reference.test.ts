import { describe, it } from 'vitest'
import { circuitConformance } from '../src'
import { reference } from './support/reference'

circuitConformance({ describe, it }, { ...reference(), print: console.info })
