import { CircuitBreaker } from './breaker'
import { KeyedCircuitBreaker, type KeyedOptions } from './keyed'
import { type CircuitBreakerOptions, circuitSettings } from './options'

export interface CircuitBreakerFactory {
  /**
   * A circuit breaker. Those of one name on one store, in however many processes,
   * share one circuit.
   *
   * @throws OptionError naming the option, what it takes and what it got
   */
  (options: CircuitBreakerOptions): CircuitBreaker
  /**
   * A breaker per key, in bounded memory; the circuit of a key is named `<name>|<key>`,
   * any `|` and `%` in the name escaped as in a URL.
   *
   * @throws OptionError naming the option, what it takes and what it got
   */
  keyed(options: CircuitBreakerOptions, keyed?: KeyedOptions): KeyedCircuitBreaker
}

export const circuitBreaker: CircuitBreakerFactory = Object.assign(
  (options: CircuitBreakerOptions) => {
    const settings = circuitSettings(options)
    return new CircuitBreaker(settings.name, settings)
  },
  {
    keyed: (options: CircuitBreakerOptions, keyed: KeyedOptions = {}) =>
      new KeyedCircuitBreaker(options, keyed),
  },
)
