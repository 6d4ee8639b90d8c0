// Measures how fast ready pull requests merge, and the number of GitHub requests: N pull requests on a catalog of 20
// MB, with 200 ms latency for each GitHub call, on a branch that accepts several merges in one push and on a branch
// that requires one push for each. GitHub's limits are disabled. Prints the measurements with their targets, and a table of the
// requests of a merge.
// `npm run bench:landing -- [N...] [--megabytes 20] [--latency 200] [--waiting 0] [--only trains|one-by-one]`
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startBotProcess } from '../sandbox/demo/bot-process.ts'
import { startBotEnvironment } from '../sandbox/demo/bot-environment.ts'
import { addVersionToChannelStart } from '../sandbox/demo/catalog-edits.ts'
import { pushCatalogImages, readDemoCatalogFiles } from '../sandbox/demo/demo-environment.ts'
import type { MockPull } from '../sandbox/github/github-data.ts'
import { buildCatalogBotCli } from './built-command.ts'
import { readProcessTreeCpuTimeMs } from '../scripts/cpu-time.ts'
import { readProcessTreeMemory } from '../src/server/store-metrics.ts'
import { generateCatalog } from './generated-catalog.ts'
import {
  createRequestFilterForPullRequest,
  isGitHubApiRequest,
  findRequestsAfterBotComment,
  renderApiRequestTable,
  findLastCheckRunTime,
  type BenchmarkedPullRequest,
} from './request-table.ts'
import { startSlowGitHubProxy, type RecordedRequest } from './slow-github.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    megabytes: { type: 'string', default: '20' },
    latency: { type: 'string', default: '200' },
    /** Additional pull requests that only wait for an approval. */
    waiting: { type: 'string', default: '0' },
    only: { type: 'string' },
  },
})
const pullRequestCounts = positionals.length > 0 ? positionals.map(Number) : [10, 30, 100, 300]
const mergeModes = (['trains', 'one-by-one'] as const).filter(
  (mode) => values.only === undefined || values.only === mode,
)
const repositoryName = 'coast/operators'
/** After this time, the benchmark stops and reports the merges so far. */
const maxDurationMs = 600_000
const waitingPullRequestCount = Number(values.waiting)

/** A rule with which GitHub accepts only one pull request in each push: changes must come from a pull request. */
const requiredPullRequestRule = {
  type: 'pull_request',
  parameters: {
    required_approving_review_count: 0,
    dismiss_stale_reviews_on_push: false,
    require_code_owner_review: false,
    require_last_push_approval: false,
    required_review_thread_resolution: false,
  },
} as const

async function measureMergeThroughput(count: number, mode: (typeof mergeModes)[number]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-landing-'))
  const botEnvironment = await startBotEnvironment({ directory, sweepSeconds: 20, hourlyLimit: 10_000_000 })
  const { github, registry } = botEnvironment
  const slow = await startSlowGitHubProxy(github.url, Number(values.latency))
  const like = readDemoCatalogFiles(registry.host)['catalogs/v4.20/lighthouse/catalog.yaml'] ?? ''
  const names = Array.from({ length: count + waitingPullRequestCount }, (_, index) => `package-${index}`)
  const textOf = (name: string) => like.replaceAll('lighthouse', name)
  const pathOf = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`
  try {
    generateCatalog(join(directory, 'generated'), Number(values.megabytes))
    const files: Record<string, string> = {}
    for (const name of readdirSync(join(directory, 'generated')))
      files[pathOf(name)] = await readFile(join(directory, 'generated', name, 'catalog.yaml'), 'utf8')
    for (const name of names) {
      files[pathOf(name)] = textOf(name)
      files[`operators/${name}/ci.yaml`] = `reviewers:\n  - owner-of-${name}\n`
      github.createUser(`owner-of-${name}`)
    }
    for (const login of ['harbormaster', 'mallory']) github.createUser(login)
    github.createOrganization('coast', ['harbormaster'])
    await github.createRepository('coast', 'operators', { files })
    if (mode === 'one-by-one') github.addRules(repositoryName, [requiredPullRequestRule])
    const open = async (name: string, author: string): Promise<MockPull> => {
      const text = addVersionToChannelStart(textOf(name), name, '1.2.0', '1.1.0')
      pushCatalogImages(registry, text, (bundle) => bundle === `${name}.v1.2.0`)
      return github.openPull({
        repository: repositoryName,
        author,
        title: `${name} 1.2.0`,
        changes: { [pathOf(name)]: text },
      })
    }
    const environment = {
      ...botEnvironment.installBot(repositoryName),
      LOG_LEVEL: 'warn',
      GITHUB_THROTTLE: 'off',
      GITHUB_API_URL: slow.url,
      GITHUB_URL: slow.url,
    }
    const waiting: MockPull[] = []
    for (const name of names.slice(count)) waiting.push(await open(name, 'mallory'))
    const ready: MockPull[] = []
    for (const name of names.slice(0, count)) ready.push(await open(name, `owner-of-${name}`))
    console.error(`${count} are open, ${mode}`)
    const bot = await startBotProcess({ command: await buildCatalogBotCli(), environment })
    github.sendWebhooksTo(`${bot.url}/api/github/webhooks`)
    const started = performance.now()
    const botPid = bot.process.pid ?? 0
    const usedBeforeMs = readProcessTreeCpuTimeMs(botPid)
    let [cpuMs, peakBytes] = [0, 0]
    const observeBot = async () => {
      cpuMs = readProcessTreeCpuTimeMs(botPid) - usedBeforeMs
      peakBytes = Math.max(peakBytes, (await readProcessTreeMemory(botPid)) ?? 0)
    }
    const mergedAt = new Map<MockPull, number>()
    try {
      let rounds = 0
      while (mergedAt.size < count && performance.now() - started < maxDurationMs) {
        for (const pull of ready)
          if (pull.merged !== null && !mergedAt.has(pull)) mergedAt.set(pull, performance.now())
        if (++rounds % 100 === 0) await observeBot()
        await pause(20)
      }
      // Updates after a merge are part of its cost.
      for (let quiet = 0, before = -1; quiet < 10; quiet = slow.passed.length === before ? quiet + 1 : 0) {
        before = slow.passed.length
        await pause(200)
        if (performance.now() - started > maxDurationMs + 30_000) break
      }
      await observeBot()
    } finally {
      await bot.kill('SIGKILL')
    }
    return formatMeasurement({
      ...{ count, mode, ready, waiting, mergedAt, started, cpuMs, peakBytes },
      passed: slow.passed,
    })
  } finally {
    await slow.stop()
    await botEnvironment.stop()
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  }
}

interface MergeThroughputMeasurement {
  readonly count: number
  readonly mode: (typeof mergeModes)[number]
  readonly ready: readonly MockPull[]
  readonly waiting: readonly MockPull[]
  readonly mergedAt: ReadonlyMap<MockPull, number>
  readonly started: number
  /** Of all processes of catalog-bot, from the start until the last request. */
  readonly cpuMs: number
  /** Of all processes of catalog-bot. A page that several processes share is divided among them (PSS). */
  readonly peakBytes: number
  readonly passed: readonly RecordedRequest[]
}

/** Issue and reference: docs/dev/performance.md. */
const performanceTargetsByMode = {
  trains: { perMinute: 60, requests: 15, writes: 5 },
  'one-by-one': { perMinute: 30, requests: undefined, writes: undefined },
} as const
/** The time from green to merged has a target up to this number of pull requests. */
const timeToMergeTarget = { count: 30, p95: 60 } as const

function formatMeasurement({
  count,
  mode,
  ready,
  waiting,
  mergedAt,
  started,
  cpuMs,
  peakBytes,
  passed,
}: MergeThroughputMeasurement): string {
  const api = passed.filter(isGitHubApiRequest)
  const all: readonly BenchmarkedPullRequest[] = ready.map((pull) => ({
    pull,
    author: pull.author.login,
    mergedAt: mergedAt.get(pull),
  }))
  const idle = waiting.map((pull) => ({ pull, author: 'nobody', mergedAt: undefined }))
  const forWaiting = idle.flatMap((one) => api.filter(createRequestFilterForPullRequest(one)))
  const later = idle.flatMap((one) => findRequestsAfterBotComment(one, api))
  const writes = api.reduce((sum, one) => sum + one.writes, 0)
  const idleWrites = forWaiting.reduce((sum, one) => sum + one.writes, 0)
  const last = Math.max(started, ...mergedAt.values())
  const first = Math.min(last, ...mergedAt.values())
  const waits = all.flatMap((one) => {
    const green = findLastCheckRunTime(one, passed)
    return one.mergedAt === undefined || green === undefined ? [] : [(one.mergedAt - green) / 1000]
  })
  const sorted = waits.toSorted((a, b) => a - b)
  const percentile = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  const merges = mergedAt.size
  const per = (sum: number) => (merges === 0 ? Number.NaN : sum / merges)
  const seconds = (last - started) / 1000
  const wanted = performanceTargetsByMode[mode]
  const p95 = count === timeToMergeTarget.count ? timeToMergeTarget.p95 : undefined
  const figures: readonly (readonly [string, number, string?])[] = [
    ['merged', merges],
    [
      'merges a minute, from the start',
      (merges * 60) / seconds,
      formatMinPerformanceTarget(wanted.perMinute),
    ],
    [
      'merges a minute, from the first on',
      merges < 2 ? Number.NaN : ((merges - 1) * 60_000) / Math.max(1, last - first),
      formatMinPerformanceTarget(wanted.perMinute),
    ],
    ['green to merged, p50, seconds', percentile(0.5)],
    ['green to merged, p95, seconds', percentile(0.95), formatMaxPerformanceTarget(p95)],
    ['requests a merge', per(api.length - forWaiting.length), formatMaxPerformanceTarget(wanted.requests)],
    ['writes a merge', per(writes - idleWrites), formatMaxPerformanceTarget(wanted.writes)],
    ['processor seconds a merge', per(cpuMs / 1000)],
    ['peak memory (PSS), GB', peakBytes / 1e9],
    ['requests of git a merge', per(passed.filter(({ path }) => path.includes('.git/')).length)],
    ...(waiting.length > 0
      ? ([
          [`requests for ${waiting.length} that wait`, forWaiting.length],
          [
            'what one that waits costs, for each merge',
            per(later.length) / waiting.length,
            formatMaxPerformanceTarget(0.1),
          ],
        ] as const)
      : []),
  ]
  return [
    `\n## n = ${count}, ${mode}, without GitHub's limits: ${seconds.toFixed(1)} s\n`,
    '| figure | measured | target |\n| --- | ---: | ---: |',
    ...figures.map(
      ([name, value, target = '']) =>
        `| ${name} | ${Number.isNaN(value) ? '-' : value.toFixed(value < 10 ? 2 : 1).replace(/\.0+$/, '')} | ${target} |`,
    ),
    `\n${renderApiRequestTable(all, passed)}`,
  ].join('\n')
}

const formatMinPerformanceTarget = (target: number | undefined) =>
  target === undefined ? '' : `at least ${target}`
const formatMaxPerformanceTarget = (target: number | undefined) =>
  target === undefined ? '' : `at most ${target}`

// This mode is slower, and no target needs more.
const maxPullRequestsInOneByOneMode = values.only === 'one-by-one' ? Infinity : 30
for (const count of pullRequestCounts)
  for (const mode of mergeModes)
    if (mode === 'trains' || count <= maxPullRequestsInOneByOneMode)
      console.log(await measureMergeThroughput(count, mode))
