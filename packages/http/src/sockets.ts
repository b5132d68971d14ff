import type { Socket } from 'node:net'

type Listener = () => void

const waiting = new WeakMap<Socket, Set<Listener>>()

/**
 * Calls back when a socket closes, until told to stop. However many requests wait
 * on one socket, one after the other or pipelined, it carries one listener, and
 * none once the last of them stopped.
 *
 * @returns stops waiting
 */
export function onSocketClose(socket: Socket, listener: Listener): () => void {
  let listeners = waiting.get(socket)
  if (listeners === undefined) {
    listeners = new Set()
    waiting.set(socket, listeners)
    socket.on('close', tellAll)
  }
  const joined = listeners
  joined.add(listener)
  return () => {
    joined.delete(listener)
    if (joined.size > 0 || waiting.get(socket) !== joined) return
    waiting.delete(socket)
    socket.off('close', tellAll)
  }
}

function tellAll(this: Socket): void {
  const listeners = waiting.get(this)
  waiting.delete(this)
  this.off('close', tellAll)
  for (const listener of listeners ?? []) listener()
}
