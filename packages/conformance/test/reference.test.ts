import { describe, it } from 'vitest'
import { storeConformance } from '../src'
import { reference } from './support/reference'

storeConformance({ describe, it }, { ...reference(), print: console.info })
