export { ScriptedDependency, type Step } from './scripted-dependency'
export { oneTurn, settled, VirtualClock } from './virtual-clock'
export { type Fault, type Method, WaywardStore } from './wayward-store'
