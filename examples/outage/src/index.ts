import { readArguments } from './arguments'
import { exitCode, judge } from './promises'
import { seeded } from './random'
import { playRound } from './round'
import { judgement, summary } from './summary'

const { once, seed } = argumentsOrExit()
const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())

console.log('Three Express instances share one circuit for one dependency, which goes down twice.')
console.log(`Seed ${seed}${once ? '' : '; Ctrl-C ends it'}.`)
if (process.env.REDIS_URL) {
  console.log('REDIS_URL is set, and not used: the instances share a memory store in this process.')
}

const random = seeded(seed)
const codes: (0 | 1)[] = []
do {
  console.log('')
  const facts = await playRound(random, stop.signal)
  console.log(`\n${summary(facts)}`)
  if (stop.signal.aborted) break
  const verdicts = judge(facts)
  codes.push(exitCode(verdicts))
  console.log(`\n${judgement(verdicts)}`)
} while (!once)
if (stop.signal.aborted) {
  const held = codes.filter((code) => code === 0).length
  console.log(`\nStopped in the middle of a round, which is not judged. In ${held} of ${codes.length} whole`)
  console.log('rounds before it all promises held.')
}
// Who asked for one round asked for its verdict; who watches ends it when he likes.
if (once) process.exitCode = codes[0] ?? exitCode(undefined)

function argumentsOrExit(): ReturnType<typeof readArguments> {
  try {
    return readArguments(process.argv.slice(2), () => Math.floor(Math.random() * 1_000_000))
  } catch (error) {
    console.error(`npm start: ${(error as Error).message}`)
    process.exit(2)
  }
}
