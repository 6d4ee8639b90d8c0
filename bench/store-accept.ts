// How long accept() takes at a steady hundred deliveries a second, each with a job, while jobs are worked off:
// the webhook's answer waits for it. And how long the event loop stands still for each process that is started beside
// it, as git is all the time. Usage: npm run bench:store -- [seconds] [postgres-url]
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pullNumber } from '../src/change/ids.ts'
import { openStore } from '../src/store/store.ts'

const seconds = Number(process.argv[2] ?? 10)
const databaseUrl = process.argv[3]
const rate = 100
/** A pull_request delivery of GitHub's has some 25 kB. */
const body = Buffer.from(
  JSON.stringify(
    Array.from({ length: 250 }, (_, at) => ({
      [`some_url_${at}`]: `https://api.github.com/repos/owner/name/${at * 7919}{/sha}`,
    })),
  ),
)

const folder = await mkdtemp(join(tmpdir(), 'catalog-bot-bench-'))
const clock = {
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
const store = await openStore({ ...(databaseUrl ? { databaseUrl } : { dataDirectory: folder }), clock })
let runs = 0
const spawned: number[] = []
await store.work(async () => {
  runs += 1
  const began = performance.now()
  const child = spawn('true', { stdio: 'ignore' })
  spawned.push(performance.now() - began)
  await new Promise((resolve) => child.once('close', resolve))
  await sleep(200)
}, 4)

const took: number[] = []
const before = process.cpuUsage()
const pending: Promise<void>[] = []
const start = performance.now()
for (let at = 0; at < seconds * rate; at++) {
  const due = start + (at * 1000) / rate
  if (due > performance.now()) await sleep(due - performance.now())
  pending.push(
    (async () => {
      const began = performance.now()
      await store.accept({ guid: `${process.pid} ${start} ${at}`, event: 'pull_request', body }, [
        {
          kind: 'pull',
          installation: 1,
          repository: { owner: 'owner', name: 'name' },
          pull: pullNumber(1 + (at % 300)),
        },
      ])
      took.push(performance.now() - began)
    })(),
  )
}
await Promise.all(pending)
const { user, system } = process.cpuUsage(before)
const at = (part: number, of = took) =>
  (of.sort((a, b) => a - b)[Math.min(of.length - 1, Math.floor(part * of.length))] ?? 0).toFixed(1)
console.log(
  `accept(): ${took.length} deliveries at ${rate}/s, ${databaseUrl ? 'server' : 'embedded'}: ` +
    `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms; ${runs} jobs run meanwhile; ` +
    `${((user + system) / 1000 / took.length).toFixed(1)} ms of CPU each; load ${loadavg()[0]?.toFixed(1) ?? '?'}`,
)
console.log(
  `spawn(): p50 ${at(0.5, spawned)} ms, p99 ${at(0.99, spawned)} ms; ${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB`,
)
await store.close()
await rm(folder, { recursive: true, force: true, maxRetries: 10 })
