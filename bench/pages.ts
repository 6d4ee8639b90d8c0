// Measures the time of the page of a queue with 500 open pull requests, and of a handler that only sends as many
// bytes, in the same run. Each request comes from a new user, so that no cached page is sent. Usage: node
// bench/pages.ts [--pulls 500] [--runs 30] [--quick]. Exits with 1 if the page exceeds 100 KiB, or the median 50 ms.
// With --quick, which is for machines with other load, a slow median is only reported.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { createPagesHandler } from '../src/web/server/pages-handler.ts'
import { readSettings } from '../src/jobs/settings.ts'
import { toCommitSha, toPullNumber } from '../src/pull-request/ids.ts'
import { systemClock } from '../src/adapters/system-clock.ts'
import { openStore } from '../src/adapters/store/store.ts'

const { values } = parseArgs({
  options: {
    pulls: { type: 'string', default: '500' },
    runs: { type: 'string', default: '30' },
    quick: { type: 'boolean', default: false },
  },
})
const [pulls, runs] = [Number(values.pulls), Number(values.runs)]
/** Milliseconds. */
const maxResponseMs = 50
const maxPageBytes = 100 * 1024

const dataDirectory = mkdtempSync(join(tmpdir(), 'bench-pages-'))
const store = await openStore({ dataDirectory, clock: systemClock })
const benchmarkRepositoryName = { owner: 'coast', name: 'operators' }
const startTimeMs = Date.now()
await store.recordRepositories([
  { repository: benchmarkRepositoryName, installation: 1, isPublic: true, listedAt: startTimeMs },
])
const pullDecisionKinds = ['merge', 'wait', 'blocked', 'unknown'] as const
for (let pull = 1; pull <= pulls; pull++)
  await store.recordEvaluation({
    repository: benchmarkRepositoryName,
    pull: toPullNumber(pull),
    title: `package-${pull} 1.${pull}.0: a title as people write them`,
    author: `author-${pull % 40}`,
    draft: false,
    head: toCommitSha(pull.toString(16).padStart(40, '0')),
    base: toCommitSha('b'.repeat(40)),
    baseRef: 'main',
    config: 'default',
    openedAt: startTimeMs - pull * 60_000,
    verdict: pullDecisionKinds[pull % pullDecisionKinds.length] ?? 'wait',
    reasons: [
      {
        code: 'approval',
        text: `an owner of package-${pull} must approve`,
        who: ['alice', 'bob', 'coast/owners'],
      },
      { code: 'findings', text: 'validation found 2 errors' },
    ],
    checks: ['ownership: waiting for approval', 'validation: 2 errors', 'images: passed', 'install: passed'],
    approvals: [],
    findings: [],
    at: startTimeMs - pull * 1000,
  })

// The clock advances one minute for each page, so that cached pages are too old and no rate limit applies.
let requestCount = 0
const simulatedClock = { ...systemClock, now: () => startTimeMs + requestCount * 1000 * 60 }
const statusPagesHandler = createPagesHandler({
  settings: readSettings({ SWEEP_SECONDS: '86400' }),
  store,
  clock: simulatedClock,
  log: pino({ level: 'silent' }),
})
if (statusPagesHandler === undefined) throw new Error('the page handler is missing')
const statusPagesServer = createServer((request, response) => void statusPagesHandler(request, response))
// The first request also loads the client, which is not a part of the page.
const emptyServer = createServer((_request, response) => void response.end('x'))
await measureHttpRequests(emptyServer, '/', 3)
const queuePagePath = '/r/coast/operators'
const singleRequestMeasurement = await measureHttpRequests(statusPagesServer, queuePagePath, 1)
const baselineResponseBody = Buffer.alloc(singleRequestMeasurement.bytes, 'x')
const baselineServer = createServer((_request, response) => void response.end(baselineResponseBody))
const baselineServerMeasurement = await measureHttpRequests(baselineServer, '/', runs)
const queuePageMeasurement = await measureHttpRequests(statusPagesServer, queuePagePath, runs)
const queueSearchMeasurement = await measureHttpRequests(
  statusPagesServer,
  `${queuePagePath}?author=author-7`,
  runs,
)
const queueJsonMeasurement = await measureHttpRequests(statusPagesServer, `${queuePagePath}.json`, runs)
await store.close()
rmSync(dataDirectory, { recursive: true, force: true, maxRetries: 10 })

const printMeasurement = (
  name: string,
  { times, bytes, processor }: { times: readonly number[]; bytes: number; processor: number },
) =>
  console.log(
    `${name.padEnd(22)} ${computePercentile(times, 0.5).toFixed(1).padStart(7)} ms half, ${computePercentile(times, 0.95).toFixed(1).padStart(7)} ms 95 %, ${processor.toFixed(1).padStart(6)} ms of a processor, ${(bytes / 1024).toFixed(0)} KiB`,
  )
console.log(`${pulls} open pull requests, ${runs} times each`)
printMeasurement('first page', singleRequestMeasurement)
printMeasurement('the page', queuePageMeasurement)
printMeasurement('a search', queueSearchMeasurement)
printMeasurement('same data as JSON', queueJsonMeasurement)
printMeasurement('same number of bytes only', baselineServerMeasurement)
if (computePercentile(queuePageMeasurement.times, 0.5) > maxResponseMs) {
  console.error(`the median page took more than ${maxResponseMs} ms`)
  if (!values.quick) process.exitCode = 1
}
if (queuePageMeasurement.bytes > maxPageBytes) {
  console.error(`the page has ${queuePageMeasurement.bytes} bytes, more than ${maxPageBytes}`)
  process.exitCode = 1
}

async function measureHttpRequests(server: typeof statusPagesServer, path: string, count: number) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const times: number[] = []
  let bytes = 0
  const before = process.cpuUsage()
  for (let run = 0; run < count; run++) {
    requestCount += 1
    const started = performance.now()
    const reply = await fetch(`http://127.0.0.1:${port}${path}`)
    const text = await reply.text()
    times.push(performance.now() - started)
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${text.slice(0, 200)}`)
    bytes = Buffer.byteLength(text)
  }
  const { user, system } = process.cpuUsage(before)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  return { times, bytes, processor: (user + system) / 1000 / count }
}

function computePercentile(times: readonly number[], part: number): number {
  return times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0
}
