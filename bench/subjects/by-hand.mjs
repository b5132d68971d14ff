/** The breaker that one would write for one process: ten buckets, no probe discipline, nothing shared. For scale. */
export function breakerByHand({ windowMs = 30_000, failureRate = 0.5, minimumCalls = 10 } = {}) {
  const width = windowMs / 10
  const buckets = Array.from({ length: 10 }, () => ({ number: -1, calls: 0, failures: 0 }))
  let openUntil = 0
  const count = (failed) => {
    const number = Math.floor(Date.now() / width)
    const bucket = buckets[number % 10]
    if (bucket.number !== number) Object.assign(bucket, { number, calls: 0, failures: 0 })
    bucket.calls++
    if (!failed) return
    bucket.failures++
    const live = buckets.filter((one) => one.number > number - 10)
    const calls = live.reduce((sum, one) => sum + one.calls, 0)
    const failures = live.reduce((sum, one) => sum + one.failures, 0)
    if (calls >= minimumCalls && failures >= failureRate * calls) openUntil = Date.now() + 30_000
  }
  return {
    async execute(fn) {
      if (openUntil > 0 && Date.now() < openUntil) throw new Error('open')
      try {
        const value = await fn()
        count(false)
        return value
      } catch (error) {
        count(true)
        throw error
      }
    },
  }
}
