import { readArguments } from './arguments'
import { checkRedis, startHere, startProcesses } from './fleet'
import { exitCode, judge } from './promises'
import { seeded } from './random'
import { playRound } from './round'
import { judgement, summary } from './summary'

const { once, seed } = argumentsOrExit()
const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())

const redisUrl = process.env.REDIS_URL
if (redisUrl) await checkRedis(redisUrl).catch(exitSaying)
const startFleet = redisUrl ? startProcesses(redisUrl) : startHere
const who = redisUrl ? 'Three processes of an Express app' : 'Three Express instances'
const where = redisUrl ? 'in Redis, ' : ''
console.log(`${who} share one circuit ${where}for one dependency, which goes down twice.`)
console.log(`Seed ${seed}${once ? '' : '; Ctrl-C ends it'}.`)

const random = seeded(seed)
const codes: (0 | 1)[] = []
do {
  console.log('')
  const facts = await playRound(startFleet, random, stop.signal)
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
    return exitSaying(error as Error)
  }
}

function exitSaying({ message }: Error): never {
  console.error(`npm start: ${message}`)
  process.exit(2)
}
