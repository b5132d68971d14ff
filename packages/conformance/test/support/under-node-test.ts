import { describe, it } from 'node:test'
import { storeConformance } from '../../src'
import { reference } from './reference'

// Run by runners.test.ts, under the runner that comes with Node.js: once whole, once with something left out.
storeConformance({ describe, it }, reference())
storeConformance({ describe, it }, { ...reference([], { hooks: {} }), name: 'no hooks' })
