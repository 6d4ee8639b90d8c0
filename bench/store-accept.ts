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

const durationSeconds = Number(process.argv[2] ?? 10)
const databaseUrl = process.argv[3]
const deliveriesPerSecond = 100
/** A GitHub pull_request delivery has about 25 kB. */
const deliveryBody = Buffer.from(
  JSON.stringify(
    Array.from({ length: 250 }, (_, at) => ({
      [`some_url_${at}`]: `https://api.github.com/repos/owner/name/${at * 7919}{/sha}`,
    })),
  ),
)

const dataDirectory = await mkdtemp(join(tmpdir(), 'catalog-bot-bench-'))
const benchmarkClock = {
  now: () => Date.now(),
  sleep: (milliseconds: number, signal?: { addEventListener(type: 'abort', listener: () => void): void }) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    }),
}
const store = await openStore({
  ...(databaseUrl ? { databaseUrl } : { dataDirectory: dataDirectory }),
  clock: benchmarkClock,
})
let jobRunCount = 0
const processSpawnTimesMs: number[] = []
await store.work(async () => {
  jobRunCount += 1
  const began = performance.now()
  const child = spawn('true', { stdio: 'ignore' })
  processSpawnTimesMs.push(performance.now() - began)
  await new Promise((resolve) => child.once('close', resolve))
  await sleep(200)
}, 4)

const deliveryAcceptTimesMs: number[] = []
const cpuUsageBefore = process.cpuUsage()
const pendingDeliveryAccepts: Promise<void>[] = []
const startedAt = performance.now()
for (let at = 0; at < durationSeconds * deliveriesPerSecond; at++) {
  const due = startedAt + (at * 1000) / deliveriesPerSecond
  if (due > performance.now()) await sleep(due - performance.now())
  pendingDeliveryAccepts.push(
    (async () => {
      const began = performance.now()
      await store.accept(
        { guid: `${process.pid} ${startedAt} ${at}`, event: 'pull_request', body: deliveryBody },
        [
          {
            kind: 'pull',
            installation: 1,
            repository: { owner: 'owner', name: 'name' },
            pull: toPullNumber(1 + (at % 300)),
          },
        ],
      )
      deliveryAcceptTimesMs.push(performance.now() - began)
    })(),
  )
}
await Promise.all(pendingDeliveryAccepts)
const { user, system } = process.cpuUsage(cpuUsageBefore)
const formatPercentileMs = (part: number, of = deliveryAcceptTimesMs) =>
  (of.sort((a, b) => a - b)[Math.min(of.length - 1, Math.floor(part * of.length))] ?? 0).toFixed(1)
console.log(
  `accept(): ${deliveryAcceptTimesMs.length} deliveries at ${deliveriesPerSecond}/s, ${databaseUrl ? 'server' : 'embedded'}: ` +
    `p50 ${formatPercentileMs(0.5)} ms, p99 ${formatPercentileMs(0.99)} ms, max ${formatPercentileMs(1)} ms; ${jobRunCount} jobs run during that time; ` +
    `${((user + system) / 1000 / deliveryAcceptTimesMs.length).toFixed(1)} ms of CPU each; load ${loadavg()[0]?.toFixed(1) ?? '?'}`,
)
console.log(
  `spawn(): p50 ${formatPercentileMs(0.5, processSpawnTimesMs)} ms, p99 ${formatPercentileMs(0.99, processSpawnTimesMs)} ms; ${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB`,
)
await store.close()
await rm(dataDirectory, { recursive: true, force: true, maxRetries: 10 })
