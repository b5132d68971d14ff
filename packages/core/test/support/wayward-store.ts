export { type Fault, type Method, WaywardStore } from '../../src/testing'
