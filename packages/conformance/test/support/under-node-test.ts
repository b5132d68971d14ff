import { describe, it } from 'node:test'
import { circuitConformance } from '../../src'
import { reference } from './reference'

// Run by runners.test.ts, under the runner that comes with Node.js: once whole, once with something left out.
circuitConformance({ describe, it }, reference())
circuitConformance({ describe, it }, { ...reference([], { hooks: {} }), name: 'no hooks' })
