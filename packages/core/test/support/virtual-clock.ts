export { oneTurn, settled, VirtualClock } from '../../src/testing'
