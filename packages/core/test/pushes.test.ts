import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type CircuitBreaker, memoryStore, type Store } from '@tidegate/core'
import { describe, expect, it } from 'vitest'
import { breakerOf, failTimes, ignore, up } from './support/subject'
import { settled, VirtualClock } from './support/virtual-clock'
import { WaywardStore } from './support/wayward-store'

type Listener = Parameters<NonNullable<Store['circuits']['subscribe']>>[1]

function pushingFleet() {
  const clock = new VirtualClock()
  const inner = memoryStore({ clock })
  const listeners = new Set<Listener>()
  const store = new WaywardStore(inner, { push: true, shared: true, windows: ['time', 'consecutive'] })
  store.circuits.subscribe = (name, listener) => {
    listeners.add(listener)
    const stop = inner.circuits.subscribe?.(name, listener)
    return () => {
      listeners.delete(listener)
      stop?.()
    }
  }
  const build = (): CircuitBreaker => breakerOf(clock, { store })
  return { clock, store, listeners, build }
}

describe('a store that pushes', () => {
  it('is listened to from the first call on, and tells of a trip at once', async () => {
    const { listeners, build } = pushingFleet()
    const [here, there] = [build(), build()]
    expect(listeners.size).toBe(0)
    await here.execute(up)
    await failTimes(there, 4)
    expect(here.state).toBe('open')
    expect(here.stats().fence).toBe(there.stats().fence)
  })

  it('is not believed when what it says is old, or cannot be read', async () => {
    const { listeners, store, build } = pushingFleet()
    const [here, there] = [build(), build()]
    const pushed: Parameters<Listener>[0][] = []
    await here.execute(up)
    store.circuits.subscribe?.('payments', (snapshot) => pushed.push(snapshot))
    await failTimes(there, 4)
    await there.reset()
    await settled()
    expect(here.state).toBe('closed')
    const [open] = pushed
    for (const listener of listeners) {
      if (open !== undefined) listener(open)
      for (const garbage of [undefined, null, 'closed', {}, { ...open, fence: 'x' }])
        listener(garbage as never)
    }
    expect(here.state).toBe('closed')
  })

  it('is not listened to any more after close, nor by a breaker that is gone', async () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const { clock, listeners, build } = pushingFleet()
    const closed = build()
    await closed.execute(up)
    await closed.close()
    expect(listeners.size).toBe(0)
    await (async () => {
      await build().execute(up)
    })()
    expect(listeners.size).toBe(1)
    await clock.advance(1_000)
    for (let turn = 0; turn < 50 && listeners.size > 0; turn++) {
      collect()
      await settled()
    }
    expect(listeners.size).toBe(0)
  })

  it('may refuse to be listened to', async () => {
    const { store, build } = pushingFleet()
    store.circuits.subscribe = () => {
      throw new Error('no channels for you')
    }
    const breaker = build()
    expect(await breaker.execute(up)).toBe('up')
    await breaker.execute(up).catch(ignore)
    await breaker.close()
  })
})
