// Measures how fast image references are checked: against docker-registry on loopback, compared with `skopeo inspect
// --raw`, and against a registry in this process with 50 ms latency over TLS. `npm run bench:registry [-- --quick]`.
// Exits with 1 if a target is missed.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import { createInMemoryCache } from '../src/catalogs/memory-cache.ts'
import type { Clock } from '../src/ports/clock.ts'
import { createCachedRegistry } from '../src/adapters/registry/cached-registry.ts'
import { allowLoopbackRegistries } from '../src/adapters/registry/transport/egress-policy.ts'
import { HttpRegistryClient, type RegistryClientOptions } from '../src/adapters/registry/open-registry.ts'
import { scanImages } from '../src/adapters/registry/scan-images.ts'
import { isOnPath } from '../test/is-on-path.ts'
import { startRealRegistry } from '../test/adapters/registry/real-registry.ts'
import {
  createImageManifest,
  loopbackCertificate,
  startScriptedRegistry,
} from '../test/adapters/registry/scripted-registry.ts'

const isQuickBenchmarkRun = process.argv.includes('--quick')
const imageCount = isQuickBenchmarkRun ? 40 : 400
const benchmarkClock: Clock = {
  now: () => performance.now(),
  sleep: (milliseconds) => new Promise((done) => setTimeout(done, milliseconds)),
}
const runCommand = promisify(execFile)
const missedPerformanceTargets: string[] = []

function printTableRow(...cells: readonly (string | number)[]): void {
  console.log(
    cells.map((cell, index) => (index === 0 ? String(cell).padEnd(46) : String(cell).padStart(10))).join(''),
  )
}

function checkPerformanceTarget(isMet: boolean, text: string): void {
  console.log(`${isMet ? 'kept  ' : 'BROKEN'}  ${text}`)
  if (!isMet) missedPerformanceTargets.push(text)
}

/** A speed target. A quick run on a shared machine reports it but does not enforce it. */
function checkTimingTarget(isMet: boolean, text: string): void {
  if (isQuickBenchmarkRun) console.log(`${isMet ? 'kept  ' : 'missed'}  ${text}`)
  else checkPerformanceTarget(isMet, text)
}

async function measureDurationMs(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** The median of several measurements, which a single disturbance on the machine does not affect. */
async function measureMedianOfRepeatedRuns(times: number, measure: () => Promise<number>): Promise<number> {
  const measured: number[] = []
  for (let time = 0; time < times; time += 1) measured.push(await measure())
  return measured.sort((a, b) => a - b)[Math.floor(times / 2)] ?? NaN
}

/** Milliseconds for all references, each requested once. */
async function measureImageResolutionMs(
  references: readonly string[],
  concurrency: number,
  options: Partial<RegistryClientOptions>,
) {
  const client = new HttpRegistryClient({
    clock: benchmarkClock,
    limits: { window: { start: concurrency, max: concurrency } },
    ...options,
  })
  // One request first, to exclude the handshake and the warm-up of the code.
  await client.resolve(references[0] ?? '')
  let bad = 0
  const milliseconds = await measureDurationMs(async () => {
    const { answers } = await scanImages(client, references, { clock: benchmarkClock, concurrency })
    bad = [...answers.values()].filter(({ kind }) => kind !== 'ok').length
  })
  await client.close()
  if (bad > 0) missedPerformanceTargets.push(`${bad} references were not found`)
  return milliseconds
}

async function benchDockerRegistry(): Promise<void> {
  const missing = ['docker-registry', 'skopeo'].find((program) => !isOnPath(program))
  if (missing !== undefined)
    return console.log(`skipped: docker-registry, because ${missing} is not installed`)
  const registry = await startRealRegistry()
  const type = 'application/vnd.oci.image.manifest.v1+json'
  const base = await registry.push({ layers: [Buffer.alloc(1024)] }, 'bench/app:base', { format: 'oci' })
  const path = `http://${registry.host}/v2/bench/app/manifests`
  const manifest = (await (await fetch(`${path}/${base}`, { headers: { accept: type } })).json()) as object
  const references: string[] = []
  for (let index = 0; index < imageCount; index += 1) {
    const body = JSON.stringify({ ...manifest, annotations: { number: String(index) } })
    const reply = await fetch(`${path}/v${index}`, { method: 'PUT', body, headers: { 'content-type': type } })
    references.push(`${registry.host}/bench/app@${reply.headers.get('docker-content-digest')}`)
  }
  const egress = allowLoopbackRegistries(registry.host)
  console.log(`\ndocker-registry on loopback, ${imageCount} images by digest; milliseconds per image`)
  printTableRow('', 'at 1', 'at 16', 'at 64')
  const concurrencies = [1, 16, 64]
  const ours: number[] = []
  // The App's code is warm when a catalog arrives, but the first round's code is still being compiled.
  await measureImageResolutionMs(references, 16, { egress })
  for (const concurrency of concurrencies) {
    const resolve = () => measureImageResolutionMs(references, concurrency, { egress })
    ours.push((await measureMedianOfRepeatedRuns(isQuickBenchmarkRun ? 1 : 5, resolve)) / imageCount)
  }
  printTableRow('catalog-bot', ...ours.map((value) => value.toFixed(2)))
  const sample = references.slice(0, isQuickBenchmarkRun ? 4 : 100)
  const skopeoInspect = ['inspect', '--raw', '--no-creds', '--tls-verify=false']
  const skopeo: number[] = []
  for (const concurrency of concurrencies) {
    const inspect = (): Promise<number> =>
      measureDurationMs(() =>
        pLimit(concurrency).map(sample, (reference) =>
          runCommand('skopeo', [...skopeoInspect, `docker://${reference}`]),
        ),
      )
    skopeo.push((await measureMedianOfRepeatedRuns(isQuickBenchmarkRun ? 1 : 3, inspect)) / sample.length)
  }
  printTableRow(`skopeo inspect --raw (${sample.length} images)`, ...skopeo.map((value) => value.toFixed(2)))
  const factors = skopeo.map((value, index) => value / (ours[index] ?? Infinity))
  printTableRow('times as fast as skopeo', ...factors.map((value) => value.toFixed(1)))
  checkTimingTarget(Math.min(...factors) >= 12, 'at least 12 times as fast as skopeo inspect --raw')
  await registry.close()
}

async function benchHighLatencyRegistry(): Promise<void> {
  const total = isQuickBenchmarkRun ? 100 : 4000
  const thread = new Worker(new URL('./distant-registry.ts', import.meta.url), {
    workerData: { images: total },
  })
  const [host] = (await once(thread, 'message')) as [string]
  const far = Array.from({ length: total }, (_, index) => `${host}/bench/app:v${index}`)
  const createEgress = (name: string) => ({
    internal: { [name]: ['127.0.0.1/32'] },
    certificates: { '127.0.0.1': loopbackCertificate },
  })
  const milliseconds = await measureMedianOfRepeatedRuns(isQuickBenchmarkRun ? 1 : 3, () =>
    measureImageResolutionMs(far, 64, { egress: createEgress(host) }),
  )
  await thread.terminate()
  const rate = (total / milliseconds) * 1000
  console.log(`\na registry 50 ms away, over TLS: ${total} checks at 64`)
  printTableRow('checks per second', rate.toFixed(0))
  checkTimingTarget(rate >= 1000, 'at least 1,000 checks a second at 64')

  const registry = await startScriptedRegistry({ tls: true })
  const digest = registry.add('bench/app', 'v1', createImageManifest('x'))
  for (let index = 0; index < total; index += 1)
    registry.add('bench/app', `v${index}`, createImageManifest('x'))
  const references = Array.from({ length: total }, (_, index) => `${registry.host}/bench/app:v${index}`)
  const egress = createEgress(registry.host)
  registry.script = () => {
    registry.requests.length = 0
  }
  const client = new HttpRegistryClient({ clock: benchmarkClock, egress })
  const memory: number[] = []
  for (let round = 0; round < (isQuickBenchmarkRun ? 4 : 10); round += 1) {
    for (let at = 0; at < 1000; at += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => client.resolve(references[(at + index) % total] ?? '')),
      )
    globalThis.gc?.()
    memory.push(process.memoryUsage().heapUsed / 1024 / 1024)
  }
  console.log('\nheap after each 1,000 references, MiB')
  printTableRow('', ...memory.map((value) => value.toFixed(1)))
  if (globalThis.gc) checkPerformanceTarget((memory.at(-1) ?? 0) - (memory[1] ?? 0) < 5, 'memory is flat')

  const store = createInMemoryCache(benchmarkClock)
  const cached = createCachedRegistry(client, { store, identity: (reference) => client.identity(reference) })
  const byDigest = `${registry.host}/bench/app@${digest}`
  await cached.resolve(byDigest)
  let requests = 0
  registry.script = () => void (requests += 1)
  await cached.resolve(byDigest)
  checkPerformanceTarget(requests === 0, 'a second run over the same digests makes no request')
  await client.close()
  await registry.close()
}

await benchDockerRegistry()
await benchHighLatencyRegistry()
process.exit(missedPerformanceTargets.length === 0 ? 0 : 1)
