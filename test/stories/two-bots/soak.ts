// `npm run soak -- [--minutes 30] [--every 5] [--sample 30] [--seed N]`: two instances on a Postgres under modest
// traffic. Prints their resource usage over time, what a pull request leaves behind, and whether memory or descriptors
// grow; exits with 1 if they do.
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { findBotComment } from '../../../sandbox/demo/story-outcome.ts'
import { SeededRandom } from '../../../simulate/seeded-random.ts'
import { startLocalPostgres } from '../../adapters/store/local-postgres.ts'
import { createSoakTraffic } from './soak-traffic.ts'
import {
  resourceLeakThresholds,
  takeSoakSample,
  computeGrowthTrends,
  type SoakSample,
} from './soak-sample.ts'
import { startTwoBotsEnvironment } from './two-bots.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    /** Seconds between two pull requests. */
    every: { type: 'string', default: '5' },
    /** Seconds between two samples. */
    sample: { type: 'string', default: '30' },
    packages: { type: 'string', default: '12' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const formatMegabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const postgresServer = await startLocalPostgres()
if (postgresServer === undefined)
  throw new Error('there is no Postgres on this machine (/usr/lib/postgresql)')
const packageNames = Array.from({ length: Number(values.packages) }, (_, index) => `package-${index}`)
let twoBotsEnvironment
try {
  twoBotsEnvironment = await startTwoBotsEnvironment({
    packages: packageNames,
    databaseUrl: await postgresServer.database(),
    publishes: false,
    sweepSeconds: 60,
    environment: { LOG_LEVEL: 'warn' },
  })
  for (const seat of twoBotsEnvironment.instances) await twoBotsEnvironment.start(seat)
  console.log(`seed ${values.seed}, ${values.minutes} minutes, a pull request every ${values.every} s`)
  const traffic = createSoakTraffic(packageNames, twoBotsEnvironment, new SeededRandom(Number(values.seed)))
  const samples: SoakSample[] = []
  const started = performance.now()
  const seconds = () => (performance.now() - started) / 1000
  const end = Number(values.minutes) * 60
  let opens = 0
  while (seconds() < end) {
    await traffic.step(seconds() >= opens * Number(values.every))
    opens = Math.max(opens, Math.ceil(seconds() / Number(values.every)))
    if (seconds() >= samples.length * Number(values.sample)) {
      samples.push(await takeSoakSample(twoBotsEnvironment, Math.round(seconds()), traffic.opened))
      printSoakSample(samples.at(-1))
    }
    await pause(1000)
  }
  // Finish the open pull requests, so that each has left everything that it leaves.
  while (traffic.open().length > 0 && seconds() < end + 120) {
    await traffic.step(false)
    await pause(1000)
  }
  samples.push(await takeSoakSample(twoBotsEnvironment, Math.round(seconds()), traffic.opened))
  printSoakSample(samples.at(-1))
  printSoakConclusion(samples)
  const stuck = traffic
    .open()
    .map((pull) => `#${pull.number} (${/^### (.*)$/m.exec(findBotComment(pull) ?? '')?.[1] ?? 'no comment'})`)
  console.log(
    `${traffic.opened} opened, ${traffic.merged} merged, ${traffic.closed} closed, ${twoBotsEnvironment.github.requests.length} requests`,
  )
  const kinds = Object.groupBy(
    twoBotsEnvironment.github.requests,
    ({ method, template }) => `${method} ${template}`,
  )
  const most = Object.entries(kinds).toSorted(([, a = []], [, b = []]) => b.length - a.length)
  for (const [kind, all = []] of most.slice(0, 12))
    console.log(`  ${(all.length / Math.max(1, traffic.opened)).toFixed(1)} a pull request: ${kind}`)
  if (stuck.length > 0) {
    console.log(`still open: ${stuck.join(', ')}`)
    process.exitCode = 1
  }
} finally {
  await twoBotsEnvironment?.close()
  await postgresServer.remove()
}

function printSoakSample(sample: SoakSample | undefined): void {
  if (sample === undefined) return
  const seats = sample.instances.map(
    (one) =>
      `${formatMegabytes(one.resident)} MB (heap ${formatMegabytes(one.heap)}), ${one.descriptors} fds, ` +
      `${one.children} children ${formatMegabytes(one.childrenResident)} MB ${one.childrenDescriptors} fds, disk ${formatMegabytes(one.disk)} MB`,
  )
  const rows = Object.values(sample.rows).reduce((sum, count) => sum + count, 0)
  console.log(
    `${sample.seconds} s, ${sample.pulls} pulls: ${seats.join(' | ')} | database ${formatMegabytes(sample.database)} MB, ${rows} rows`,
  )
}

function printSoakConclusion(samples: readonly SoakSample[]): void {
  const first = samples[Math.floor(samples.length / 3)]
  const last = samples.at(-1)
  if (first === undefined || last === undefined) return
  const pulls = Math.max(1, last.pulls - first.pulls)
  const per = (of: (sample: SoakSample) => number) => (of(last) - of(first)) / pulls
  console.log(`\nafter the warm-up, a pull request leaves (${pulls} of them):`)
  for (const [index] of last.instances.entries())
    console.log(
      `  ${(per((one) => one.instances[index]?.disk ?? 0) / 1024).toFixed(1)} kB in the data folder of ${index + 1}.`,
    )
  console.log(`  ${(per((one) => one.database) / 1024).toFixed(1)} kB in Postgres`)
  for (const table of Object.keys(last.rows)) {
    const rows = per((one) => one.rows[table] ?? 0)
    if (rows !== 0) console.log(`  ${rows.toFixed(2)} rows of ${table} (now ${last.rows[table]})`)
  }
  console.log('\nmedians, half of the rest against the other:')
  for (const { name, before, after, perHour, isWithin } of computeGrowthTrends(samples)) {
    const shown = /escriptors/.test(name)
      ? (value: number) => value.toFixed(1)
      : (value: number) => `${formatMegabytes(value)} MB`
    console.log(
      `  ${isWithin ? 'flat ' : 'GROWS'} ${name}: ${shown(before)} -> ${shown(after)}, ${shown(perHour)} an hour`,
    )
    if (!isWithin) process.exitCode = 1
  }
  console.log(
    `bounds: memory ${resourceLeakThresholds.memoryShare * 100} % and ${formatMegabytes(resourceLeakThresholds.memoryBytes)} MB, descriptors ${resourceLeakThresholds.descriptors}`,
  )
}
