import { Cluster, Redis } from 'ioredis'
import type { Way } from './config'

const host = '127.0.0.1'

/** A client as an application has it: with the options it comes with. */
export function clientOf(way: Way): Redis | Cluster {
  const client = newClient(way)
  // Without a listener an outage of Redis is printed, for every attempt.
  client.on('error', () => {})
  return client
}

function newClient(way: Way): Redis | Cluster {
  switch (way.kind) {
    case 'single':
      return new Redis({ host, port: way.port })
    case 'sentinel':
      return new Redis({ sentinels: way.ports.map((port) => ({ host, port })), name: way.master })
    case 'cluster':
      return new Cluster(way.ports.map((port) => ({ host, port })))
  }
}
