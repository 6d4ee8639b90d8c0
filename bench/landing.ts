// How fast ready pull requests are merged, and what that costs of GitHub: so many of them on a catalog of 20 MB, each call
// of GitHub 200 ms away, in a branch that takes several merges in one push and in one that wants a push for each. GitHub's hour is
// endless here, and its limits of a minute hold only with `--limits`: docs/budget.md says what they are.
// `npm run bench:landing -- [N...] [--megabytes 20] [--latency 200] [--waiting 0] [--only trains|one-by-one] [--limits]`
// Prints its targets beside its figures, and where the requests of a merge go.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startBot } from '../sandbox/demo/bot-process.ts'
import { openBotWorld } from '../sandbox/demo/bot-world.ts'
import { addOnTop } from '../sandbox/demo/catalog-edits.ts'
import { publishImages, readFixture } from '../sandbox/demo/demo-world.ts'
import type { Pull } from '../sandbox/github/world.ts'
import { generateCatalog } from './generated-catalog.ts'
import { aboutAlone, isApi, laterThanTold, requestTable, shownAt, type Merged } from './request-table.ts'
import { openSlowGitHub, type Passed } from './slow-github.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    megabytes: { type: 'string', default: '20' },
    latency: { type: 'string', default: '200' },
    /** Pull requests beside them that only wait for an approval. */
    waiting: { type: 'string', default: '0' },
    only: { type: 'string' },
    /** One by one is measured with at most so many, unless it alone is wanted: it is slower, and no target needs more. */
    most: { type: 'string', default: '30' },
    /** Keeps to GitHub.com's limits of a minute, a second between writes among them. */
    limits: { type: 'boolean', default: false },
    /** Seconds after which whatever is merged by then is told. */
    within: { type: 'string', default: '600' },
  },
})
const counts = positionals.length > 0 ? positionals.map(Number) : [10, 30, 100, 300]
const modes = (['trains', 'one-by-one'] as const).filter(
  (mode) => values.only === undefined || values.only === mode,
)
const full = 'coast/operators'
const waitingCount = Number(values.waiting)

/** The one rule under which GitHub takes one pull request a push: a change must come by a pull request. */
const onePerPush = {
  type: 'pull_request',
  parameters: {
    required_approving_review_count: 0,
    dismiss_stale_reviews_on_push: false,
    require_code_owner_review: false,
    require_last_push_approval: false,
    required_review_thread_resolution: false,
  },
} as const

async function measure(count: number, mode: (typeof modes)[number]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-landing-'))
  const world = await openBotWorld({ directory, sweepSeconds: 20, hourlyLimit: 10_000_000 })
  const { github, registry } = world
  const slow = await openSlowGitHub(github.url, Number(values.latency))
  const like = readFixture(registry.host)['catalogs/v4.20/lighthouse/catalog.yaml'] ?? ''
  const names = Array.from({ length: count + waitingCount }, (_, index) => `package-${index}`)
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
    if (mode === 'one-by-one') github.addRules(full, [onePerPush])
    const open = async (name: string, author: string): Promise<Pull> => {
      const text = addOnTop(textOf(name), name, '1.2.0', '1.1.0')
      publishImages(registry, text, (bundle) => bundle === `${name}.v1.2.0`)
      return github.openPull({
        repository: full,
        author,
        title: `${name} 1.2.0`,
        changes: { [pathOf(name)]: text },
      })
    }
    const environment = {
      ...world.installBot(full),
      LOG_LEVEL: 'warn',
      GITHUB_THROTTLE: values.limits ? 'on' : 'off',
      GITHUB_API_URL: slow.url,
      GITHUB_URL: slow.url,
    }
    const waiting: Pull[] = []
    for (const name of names.slice(count)) waiting.push(await open(name, 'mallory'))
    const ready: Pull[] = []
    for (const name of names.slice(0, count)) ready.push(await open(name, `owner-of-${name}`))
    console.error(`${count} are open, ${mode}`)
    const bot = await startBot({ environment })
    github.sendWebhooksTo(`${bot.address}/api/github/webhooks`)
    const started = performance.now()
    const landedAt = new Map<Pull, number>()
    try {
      while (landedAt.size < count && performance.now() - started < Number(values.within) * 1000) {
        for (const pull of ready)
          if (pull.merged !== null && !landedAt.has(pull)) landedAt.set(pull, performance.now())
        await pause(20)
      }
      // What is said after a merge is part of its cost.
      for (let quiet = 0, before = -1; quiet < 10; quiet = slow.passed.length === before ? quiet + 1 : 0) {
        before = slow.passed.length
        await pause(200)
        if (performance.now() - started > Number(values.within) * 1000 + 30_000) break
      }
    } finally {
      await bot.kill('SIGKILL')
    }
    return told({ count, mode, ready, waiting, landedAt, started, passed: slow.passed })
  } finally {
    await slow.stop()
    await world.stop()
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  }
}

interface Measured {
  readonly count: number
  readonly mode: (typeof modes)[number]
  readonly ready: readonly Pull[]
  readonly waiting: readonly Pull[]
  readonly landedAt: ReadonlyMap<Pull, number>
  readonly started: number
  readonly passed: readonly Passed[]
}

/** Issue and reference: docs/request-costs.md. */
const targets = {
  trains: { perMinute: 60, requests: 15, writes: 5 },
  'one-by-one': { perMinute: 30, requests: undefined, writes: undefined },
} as const
/** The time from green to merged is bounded for so many. */
const prompt = { count: 30, p95: 60 } as const

function told({ count, mode, ready, waiting, landedAt, started, passed }: Measured): string {
  const api = passed.filter(isApi)
  const all: readonly Merged[] = ready.map((pull) => ({
    pull,
    author: pull.author.login,
    landedAt: landedAt.get(pull),
  }))
  const idle = waiting.map((pull) => ({ pull, author: 'nobody', landedAt: undefined }))
  const forWaiting = idle.flatMap((one) => api.filter(aboutAlone(one)))
  const later = idle.flatMap((one) => laterThanTold(one, api))
  const writes = api.reduce((sum, one) => sum + one.writes, 0)
  const idleWrites = forWaiting.reduce((sum, one) => sum + one.writes, 0)
  const last = Math.max(started, ...landedAt.values())
  const first = Math.min(last, ...landedAt.values())
  const waits = all.flatMap((one) => {
    const green = shownAt(one, passed)
    return one.landedAt === undefined || green === undefined ? [] : [(one.landedAt - green) / 1000]
  })
  const sorted = waits.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  const merges = landedAt.size
  const per = (sum: number) => (merges === 0 ? Number.NaN : sum / merges)
  const seconds = (last - started) / 1000
  const wanted = targets[mode]
  const p95 = count === prompt.count ? prompt.p95 : undefined
  const figures: readonly (readonly [string, number, string?])[] = [
    ['merged', merges],
    ['merges a minute, from the start', (merges * 60) / seconds, atLeast(wanted.perMinute)],
    [
      'merges a minute, from the first on',
      merges < 2 ? Number.NaN : ((merges - 1) * 60_000) / Math.max(1, last - first),
      atLeast(wanted.perMinute),
    ],
    ['green to merged, p50, seconds', at(0.5)],
    ['green to merged, p95, seconds', at(0.95), atMost(p95)],
    ['requests a merge', per(api.length - forWaiting.length), atMost(wanted.requests)],
    ['writes a merge', per(writes - idleWrites), atMost(wanted.writes)],
    ['requests of git a merge', per(passed.filter(({ path }) => path.includes('.git/')).length)],
    ...(waiting.length > 0
      ? ([
          [`requests for ${waiting.length} that wait`, forWaiting.length],
          ['what one that waits costs, for each merge', per(later.length) / waiting.length, atMost(0.1)],
        ] as const)
      : []),
  ]
  return [
    `\n## n = ${count}, ${mode}, ${values.limits ? "within GitHub's limits of a minute" : "without GitHub's limits"}: ${seconds.toFixed(1)} s\n`,
    '| figure | measured | target |\n| --- | ---: | ---: |',
    ...figures.map(
      ([name, value, target = '']) =>
        `| ${name} | ${Number.isNaN(value) ? '-' : value.toFixed(value < 0.1 ? 2 : 1).replace(/\.0+$/, '')} | ${target} |`,
    ),
    `\n${requestTable(all, passed)}`,
  ].join('\n')
}

const atLeast = (target: number | undefined) => (target === undefined ? '' : `at least ${target}`)
const atMost = (target: number | undefined) => (target === undefined ? '' : `at most ${target}`)

const mostOneByOne = values.only === 'one-by-one' ? Infinity : Number(values.most)
for (const count of counts)
  for (const mode of modes)
    if (mode === 'trains' || count <= mostOneByOne) console.log(await measure(count, mode))
