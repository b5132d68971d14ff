import { readArguments } from './arguments'
import { judge } from './promises'
import { seeded } from './random'
import { playRound } from './round'
import { judgement, summary } from './story'

const { once, seed } = argumentsOrExit()
const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())

console.log('Three Express instances share one circuit for one dependency, which goes down twice.')
console.log(`Seed ${seed}${once ? '' : '; Ctrl-C ends it'}.`)
if (process.env.REDIS_URL !== undefined) {
  console.log('REDIS_URL is set, and not used: the instances share a memory store in this process.')
}

const random = seeded(seed)
do {
  console.log('')
  const facts = await playRound(random, stop.signal)
  console.log(`\n${summary(facts)}`)
  if (stop.signal.aborted) break
  const verdicts = judge(facts)
  console.log(`\n${judgement(verdicts)}`)
  if (verdicts.some(({ holds }) => !holds)) process.exitCode = once ? 1 : 0
} while (!once)

function argumentsOrExit(): ReturnType<typeof readArguments> {
  try {
    return readArguments(process.argv.slice(2), () => Math.floor(Math.random() * 1_000_000))
  } catch (error) {
    console.error(`npm start: ${(error as Error).message}`)
    process.exit(2)
  }
}
