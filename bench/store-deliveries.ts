// Measures the time of accept() at a steady hundred deliveries a second, each with a job, while jobs are processed.
// The webhook's answer waits for it. Also measures how long the event loop blocks for each process that is started,
// because Git processes start all the time. Usage: npm run bench:store -- [seconds] [postgres-url]
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toPullNumber } from '../src/pull-request/ids.ts'
import { openStore } from '../src/adapters/store/store.ts'
import { systemClock } from '../src/adapters/system-clock.ts'

const loadTestDurationSeconds = Number(process.argv[2] ?? 10)
const databaseUrl = process.argv[3]
const webhookDeliveriesPerSecond = 100
/** A GitHub pull_request delivery has about 25 kB. */
const webhookDeliveryBody = Buffer.from(
  JSON.stringify(
    Array.from({ length: 250 }, (_, at) => ({
      [`some_url_${at}`]: `https://api.github.com/repos/owner/name/${at * 7919}{/sha}`,
    })),
  ),
)

const dataDirectory = await mkdtemp(join(tmpdir(), 'catalog-bot-bench-'))
const store = await openStore({
  ...(databaseUrl ? { databaseUrl } : { dataDirectory: dataDirectory }),
  clock: systemClock,
})
let executedJobCount = 0
const processSpawnLatenciesMs: number[] = []
await store.work(async () => {
  executedJobCount += 1
  const began = performance.now()
  const child = spawn('true', { stdio: 'ignore' })
  processSpawnLatenciesMs.push(performance.now() - began)
  await new Promise((resolve) => child.once('close', resolve))
  await sleep(200)
}, 4)

const deliveryAcceptLatenciesMs: number[] = []
const initialCpuUsage = process.cpuUsage()
const pendingDeliveryPromises: Promise<void>[] = []
const loadTestStartTimeMs = performance.now()
for (let at = 0; at < loadTestDurationSeconds * webhookDeliveriesPerSecond; at++) {
  const due = loadTestStartTimeMs + (at * 1000) / webhookDeliveriesPerSecond
  if (due > performance.now()) await sleep(due - performance.now())
  pendingDeliveryPromises.push(
    (async () => {
      const began = performance.now()
      await store.accept(
        {
          guid: `${process.pid} ${loadTestStartTimeMs} ${at}`,
          event: 'pull_request',
          body: webhookDeliveryBody,
        },
        [
          {
            kind: 'pull',
            installation: 1,
            repository: { owner: 'owner', name: 'name' },
            pull: toPullNumber(1 + (at % 300)),
          },
        ],
      )
      deliveryAcceptLatenciesMs.push(performance.now() - began)
    })(),
  )
}
await Promise.all(pendingDeliveryPromises)
const { user, system } = process.cpuUsage(initialCpuUsage)
const formatLatencyPercentileMs = (part: number, of = deliveryAcceptLatenciesMs) =>
  (of.sort((a, b) => a - b)[Math.min(of.length - 1, Math.floor(part * of.length))] ?? 0).toFixed(1)
console.log(
  `accept(): ${deliveryAcceptLatenciesMs.length} deliveries at ${webhookDeliveriesPerSecond}/s, ${databaseUrl ? 'server' : 'embedded'}: ` +
    `p50 ${formatLatencyPercentileMs(0.5)} ms, p99 ${formatLatencyPercentileMs(0.99)} ms, max ${formatLatencyPercentileMs(1)} ms; ${executedJobCount} jobs run during that time; ` +
    `${((user + system) / 1000 / deliveryAcceptLatenciesMs.length).toFixed(1)} ms of CPU each; load ${loadavg()[0]?.toFixed(1) ?? '?'}`,
)
console.log(
  `spawn(): p50 ${formatLatencyPercentileMs(0.5, processSpawnLatenciesMs)} ms, p99 ${formatLatencyPercentileMs(0.99, processSpawnLatenciesMs)} ms; ${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB`,
)
await store.close()
await rm(dataDirectory, { recursive: true, force: true, maxRetries: 10 })
