import type { CircuitState, Terms } from '@tidegate/contract'
import { describe, expect, it } from 'vitest'
import { RedisCircuits } from '../src'
import { failures, terms } from './support/circuits'

const sent: string[] = []
const circuits = new RedisCircuits(
  async ({ name }) => sent.push(name),
  'tidegate',
  (name) => name,
)
const fence = '1764560000000000.nonce'

/** Rejects with this, and has sent nothing. */
async function isRefused(command: Promise<unknown>, message: string): Promise<void> {
  await expect(command).rejects.toThrow(TypeError)
  await expect(command).rejects.toThrow(message)
  expect(sent).toEqual([])
}

describe('a command', () => {
  const wrong: [Partial<Terms>, string][] = [
    [{ instance: '' }, 'terms.instance must be'],
    [{ nonce: 'a b' }, 'terms.nonce must be'],
    [{ cooldownMs: 0 }, 'terms.cooldownMs must be'],
    [{ window: { kind: 'time', ms: 0.5 } }, 'terms.window.ms must be'],
    [{ window: { kind: 'count', calls: 10 } }, 'a store on Redis has no count windows'],
  ]
  for (const [over, message] of wrong) {
    it(`with ${JSON.stringify(over)} is refused before it is sent`, async () => {
      await isRefused(circuits.readState('a', terms(over)), message)
      await isRefused(circuits.record('a', fence, failures(1), terms(over)), message)
      await isRefused(circuits.compareAndSet('a', 'closed', 'open', fence, terms(over)), message)
    })
  }

  it('without a name is refused before it is sent', async () => {
    await isRefused(circuits.readState('', terms()), 'name must be')
    await isRefused(circuits.record('', fence, failures(1), terms()), 'name must be')
    await isRefused(circuits.compareAndSet('', 'closed', 'open', fence, terms()), 'name must be')
    await isRefused(circuits.forget(''), 'name must be')
  })

  it('with another fence, state or tally is refused before it is sent', async () => {
    const state = 'ajar' as CircuitState
    await isRefused(circuits.compareAndSet('a', state, 'open', fence, terms()), 'from must be')
    await isRefused(circuits.compareAndSet('a', 'open', state, fence, terms()), 'to must be')
    await isRefused(circuits.compareAndSet('a', 'open', 'half-open', fence, terms()), 'terms.owner must be')
    await isRefused(circuits.compareAndSet('a', 'closed', 'open', 'local:1', terms()), 'fence must be')
    await isRefused(circuits.record('a', 'local:1', failures(1), terms()), 'fence must be')
    await isRefused(circuits.record('a', fence, failures(-1), terms()), 'tally.seq must be')
  })
})
