import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addLatency, halveLatencies, newLatencies, quantiles } from '../src/latencies'

describe('latencies', () => {
  it('are within an eighth of what they were, from a tenth of a millisecond to a minute', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.5, max: 60_000, noNaN: true }), (durationMs) => {
        const latencies = newLatencies()
        addLatency(latencies, durationMs)
        const [median = 0] = quantiles(latencies, [0.5])
        return Math.abs(median - durationMs) <= durationMs / 8
      }),
    )
  })

  it('rank as the durations do', () => {
    const latencies = newLatencies()
    for (let ms = 1; ms <= 1_000; ms++) addLatency(latencies, ms)
    const [p50 = 0, p95 = 0, p99 = 0] = quantiles(latencies, [0.5, 0.95, 0.99])
    expect(p50 / 500).toBeCloseTo(1, 0.8)
    expect(p95).toBeGreaterThan(p50)
    expect(p99).toBeGreaterThanOrEqual(p95)
  })

  it('take anything, and never overflow', () => {
    const latencies = newLatencies()
    expect(quantiles(latencies, [0.5])).toEqual([undefined])
    for (const odd of [0, -5, 1e15, Number.POSITIVE_INFINITY]) addLatency(latencies, odd)
    for (let call = 0; call < 200_000; call++) addLatency(latencies, 1)
    const [median = 0] = quantiles(latencies, [0.5])
    expect(median).toBeCloseTo(1, 0)
    for (let window = 0; window < 20; window++) halveLatencies(latencies)
    expect(quantiles(latencies, [0.5])).toEqual([undefined])
  })
})
