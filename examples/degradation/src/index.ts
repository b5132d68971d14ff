import { exitCode, judge } from './promises'
import { playRound } from './round'
import { judgement, table } from './table'
import { serveUntil } from './watch'

const [argument, ...others] = process.argv.slice(2)
if (argument === undefined) {
  console.log('One Express app, one dependency that goes down and comes back every 10 s. Ctrl-C ends it.\n')
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  await serveUntil(stop.signal)
} else if (argument === '--once' && others.length === 0) {
  console.log('One Express app, one dependency that goes down and comes back, three ways to do without it.\n')
  const facts = await playRound()
  const verdicts = judge(facts)
  console.log(`${table(facts)}\n\n${judgement(verdicts)}`)
  process.exitCode = exitCode(verdicts)
} else {
  console.error(`npm run degradation: the only argument is --once; got ${[argument, ...others].join(' ')}`)
  process.exitCode = 2
}
