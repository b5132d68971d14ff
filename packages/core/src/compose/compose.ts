import { OptionError } from '../errors'
import { describe } from '../options'
import type { Layer, Policy } from '../policy'
import { Pipeline } from './pipeline'

/**
 * Policies as one, the first the outermost: `compose(a, b)` runs `a` around `b`
 * around the function. What an order means is in the package's README.
 *
 * @throws OptionError naming the argument: one that is no policy of this package, one that is there twice, a
 *   time limit within a shorter one, which could never be reached
 */
export function compose(...policies: readonly [Policy, ...Policy[]]): Pipeline {
  if (policies.length === 0) throw new OptionError('policies', 'compose: there must be a policy, got none')
  const layers = policies.flatMap((policy, index) => layersOf(policy, index))
  refuseRepeats(layers)
  refuseUnreachable(layers)
  return new Pipeline(layers.map(({ name }) => name).join(', '), layers)
}

/** A pipeline within one is its layers: one loop less to go through. */
function layersOf(policy: Policy, index: number): readonly Layer<object>[] {
  if (policy instanceof Pipeline) return policy.layers
  // By its structure: a policy may come of another copy of this package.
  if (typeof (policy as Partial<Layer<object>> | null)?.run === 'function') return [policy as Layer<object>]
  const takes = 'a policy of this package; of a keyed breaker, the breaker of a key'
  throw new OptionError(
    `policies[${index}]`,
    `compose: argument ${index + 1} must be ${takes}, got ${describe(policy)}`,
  )
}

/** A call would wait within itself, or count twice. */
function refuseRepeats(layers: readonly Layer<object>[]): void {
  layers.forEach((layer, index) => {
    if (layers.indexOf(layer) === index) return
    throw new OptionError('policies', `compose: ${layer.describe()} is there twice`)
  })
}

function refuseUnreachable(layers: readonly Layer<object>[]): void {
  let outer: { readonly layer: Layer<object>; readonly ms: number } | undefined
  for (const layer of layers) {
    // A retry gives each attempt a limit of its own, and the outer one is for all of them together.
    const ms = (layer as { readonly timeoutMs?: unknown }).timeoutMs
    if (layer.kind !== 'timeout' || typeof ms !== 'number') continue
    if (outer !== undefined && ms >= outer.ms) {
      const why = `is not shorter than ${outer.layer.describe()} around it, and could never be reached`
      throw new OptionError('policies', `compose: ${layer.describe()} ${why}`)
    }
    outer = { layer, ms }
  }
}
