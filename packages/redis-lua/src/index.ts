export { type CircuitScripts, channelOf, RedisCircuits, readMessage, type Send } from './circuits'
export { UnreadableReplyError } from './decode'
export type { Runnable } from './script'
