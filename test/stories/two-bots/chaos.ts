// `npm run chaos -- [--seed N] [--kills 100] [--pulls 50] [--no-publish]`: two instances on a Postgres are killed at
// random moments while they merge pull requests. Prints a summary, and exits with 1 if any final invariant is violated.
import { appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startLocalPostgres } from '../../adapters/store/local-postgres.ts'
import { SeededRandom } from '../../../simulate/seeded-random.ts'
import { pickChaosPlanKinds } from './plans.ts'
import { runChaos } from './run-chaos.ts'

const { values } = parseArgs({
  allowNegative: true,
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    kills: { type: 'string', default: '100' },
    pulls: { type: 'string', default: '50' },
    publish: { type: 'boolean', default: true },
    /** Seconds from the last death until everything must be correct. */
    settle: { type: 'string', default: '240' },
    /** Appends the last log lines of the instances to this file. */
    log: { type: 'string' },
  },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const postgresServer = await startLocalPostgres()
if (postgresServer === undefined)
  throw new Error('there is no Postgres on this machine (/usr/lib/postgresql)')
try {
  console.log(`seed ${values.seed}: ${values.kills} deaths while ${values.pulls} pull requests land`)
  const result = await runChaos({
    databaseUrl: await postgresServer.database(),
    seed: Number(values.seed),
    kinds: pickChaosPlanKinds(Number(values.pulls), new SeededRandom(Number(values.seed) + 1)),
    kills: Number(values.kills),
    publishes: values.publish,
    pauseUpTo: 3000,
    leaseSeconds: 8,
    stillSeconds: [15, 20],
    settleSeconds: Number(values.settle),
    log: (line) => console.log(line),
  })
  const { plans, deaths, faults, log } = result
  const counts = Object.entries(Object.groupBy(deaths, ({ death }) => death))
  console.log(
    `seed ${values.seed}: ${result.seconds.toFixed(0)} s, of which ${result.secondsToSettle.toFixed(0)} s after the last death; ` +
      `${counts.map(([death, all]) => `${all?.length} × ${death}`).join(', ')}; ` +
      `${plans.filter(({ pull }) => pull.merged !== null).length} of ${plans.length} pull requests merged; ${result.requests} requests`,
  )
  if (values.log !== undefined) appendFileSync(values.log, `${log.join('\n')}\n`)
  for (const fault of faults) console.log(`FAULT ${fault}`)
  console.log(faults.length === 0 ? 'everything is as it should be' : `${faults.length} faults`)
  if (faults.length > 0) process.exitCode = 1
} finally {
  await postgresServer.remove()
}
