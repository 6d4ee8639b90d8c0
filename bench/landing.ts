// How fast ready pull requests are merged, and what that costs of GitHub: so many of them on a catalog of 20 MB, each call
// of GitHub 200 ms away, in a branch that takes several merges in one push and in one that wants a push for each.
// `npm run bench:landing -- [N...] [--megabytes 20] [--latency 200] [--waiting 0] [--only trains|one-by-one]`
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
import { openSlowGitHub, type Passed } from './slow-github.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    megabytes: { type: 'string', default: '20' },
    latency: { type: 'string', default: '200' },
    /** Pull requests beside them that only wait for an approval. */
    waiting: { type: 'string', default: '0' },
    only: { type: 'string' },
    /** Tells which calls there were, and how many a merge. */
    calls: { type: 'boolean', default: false },
    /** Seconds after which whatever is merged by then is told. */
    within: { type: 'string', default: '600' },
  },
})
const counts = positionals.length > 0 ? positionals.map(Number) : [10, 30, 100]
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
  const world = await openBotWorld({ directory, sweepSeconds: 20 })
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
      GITHUB_API_URL: slow.url,
      GITHUB_URL: slow.url,
    }
    const waiting: Pull[] = []
    for (const name of names.slice(count)) waiting.push(await open(name, 'mallory'))
    const ready: Pull[] = []
    for (const name of names.slice(0, count)) ready.push(await open(name, `owner-of-${name}`))
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
  readonly mode: string
  readonly ready: readonly Pull[]
  readonly waiting: readonly Pull[]
  readonly landedAt: ReadonlyMap<Pull, number>
  readonly started: number
  readonly passed: readonly Passed[]
}

function told({ count, mode, ready, waiting, landedAt, started, passed }: Measured): string {
  const api = passed.filter(({ path }) => !path.includes('.git/') && !path.startsWith('/app'))
  // GraphQL reads by POST; a check run, a comment, a reaction, a review are written.
  const writes = api.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/graphql'))
  const about =
    ({ headSha, number }: Pull) =>
    (one: Passed) =>
      one.path.includes(headSha) || new RegExp(`/(?:pulls|issues)/${number}(?:/|\\?|$)`).test(one.path)
  const forWaiting = waiting.flatMap((pull) => api.filter(about(pull)))
  const last = Math.max(started, ...landedAt.values())
  const first = Math.min(last, ...landedAt.values())
  const waits = ready.flatMap((pull) => {
    const landed = landedAt.get(pull)
    const green = passed.filter(({ head, at }) => head === pull.headSha && at <= (landed ?? 0)).at(-1)?.at
    return landed === undefined || green === undefined ? [] : [(landed - green) / 1000]
  })
  const sorted = waits.toSorted((a, b) => a - b)
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
  const merges = landedAt.size
  const per = (all: number) => (merges === 0 ? '-' : (all / merges).toFixed(1))
  const seconds = (last - started) / 1000
  return [
    `n = ${count}, ${mode}: ${merges} merged in ${seconds.toFixed(1)} s`,
    `${((merges * 60) / seconds).toFixed(1)} a minute from the start, ${merges < 2 ? '-' : (((merges - 1) * 60_000) / Math.max(1, last - first)).toFixed(1)} from the first merge on`,
    `green to merged p50 ${at(0.5)} s, p95 ${at(0.95)} s`,
    `${per(api.length - forWaiting.length)} requests and ${per(writes.length)} writes a merge`,
    `${per(passed.filter(({ path }) => path.includes('.git/')).length)} of git`,
    ...(values.calls ? [callsOf(api, merges)] : []),
    ...(waiting.length > 0 ? [`${forWaiting.length} requests for ${waiting.length} that wait`] : []),
  ].join('; ')
}

function callsOf(api: readonly Passed[], merges: number): string {
  const kinds = new Map<string, number>()
  for (const { method, path } of api) {
    const kind = `${method} ${path.replace(/\?.*/, '').replaceAll(/\b[0-9a-f]{40}\b|\d+|(?<=users\/|ref\/heads\/|branches\/|collaborators\/)[^/]+/g, '*')}`
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  }
  return [...kinds]
    .toSorted(([, a], [, b]) => b - a)
    .map(([kind, times]) => `\n  ${(times / Math.max(1, merges)).toFixed(1)} ${kind}`)
    .join('')
}

for (const count of counts) for (const mode of modes) console.log(await measure(count, mode))
