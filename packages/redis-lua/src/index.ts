export { type CircuitScripts, RedisCircuits, readMessage, type Send } from './circuits'
export { UnreadableReplyError } from './decode'
export { channelOf } from './names'
export type { Runnable } from './script'
