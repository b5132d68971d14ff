import type { Store } from '@tidegate/core'

type Method = 'readState' | 'compareAndSet' | 'record'

type Command = (...args: never[]) => unknown

/** A command that waits on its way to the store. */
export interface Held {
  readonly args: readonly unknown[]
  /** Lets it go on. @returns the answer that the store then gave */
  release(): Promise<unknown>
}

export interface Gates {
  readonly store: Store
  /** The next such command that fits is held; resolves when it is there. */
  hold(method: Method, fits?: (args: readonly unknown[]) => boolean): Promise<Held>
  openAll(): void
}

interface Gate {
  readonly method: Method
  readonly fits: (args: readonly unknown[]) => boolean
  readonly arrive: (held: Held) => void
}

/** The store itself, with a gate before it: what is decided here may be held until it is out of date. */
export function gated(store: Store): Gates {
  const gates = new Set<Gate>()
  const waiting = new Set<() => void>()
  const { circuits } = store

  const through = (method: Method, command: Command): Command => {
    return async (...args) => {
      const gate = [...gates].find((one) => one.method === method && one.fits(args))
      if (gate === undefined) return command(...args)
      gates.delete(gate)
      let answered: (answer: Promise<unknown>) => void = () => {}
      const answer = new Promise<unknown>((resolve) => {
        answered = resolve
      })
      await new Promise<void>((open) => {
        waiting.add(open)
        const release = (): Promise<unknown> => {
          open()
          return answer
        }
        gate.arrive({ args, release })
      })
      const sent = Promise.resolve(command(...args))
      answered(sent)
      return sent
    }
  }

  return {
    store: {
      ...store,
      circuits: {
        ...circuits,
        readState: through('readState', circuits.readState as Command) as never,
        compareAndSet: through('compareAndSet', circuits.compareAndSet as Command) as never,
        record: through('record', circuits.record as Command) as never,
      },
    },
    hold: (method, fits = () => true) =>
      new Promise((arrive) => {
        gates.add({ method, fits, arrive })
      }),
    openAll() {
      gates.clear()
      for (const open of waiting) open()
    },
  }
}
