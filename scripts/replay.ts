// Replays the merged pull requests of a repository through the engine, as if each were open now. Reports the
// decisions, the rules behind them, and the cost. `npm run replay -- --mirror DIR [--branch B] [--since DATE] [--most
// N] [--max-blocked PERCENT]`. Prints one JSON line for each pull request on stdout, and the summary on
// stderr. It does not contact GitHub or a registry: all users except the author have read access only, and all images
// count as present. Exits with 1 if the engine failed on a pull request, or would have blocked more than
// --max-blocked percent of those that it can judge. The cost includes reading the base for each pull request,
// with its neighbors and catalogs.
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { resolve } from 'node:path'
import type { PullRequestChange } from '../src/pull-request/change.ts'
import { toCommitSha } from '../src/pull-request/ids.ts'
import {
  createLocalLookupResolver,
  createLocalPullRequestSnapshot,
  createTemporaryRepository,
  parseGitHubAccount,
} from '../src/cli/local-pull.ts'
import { allRules } from '../src/checks/all-rules.ts'
import type { CheckOutcome } from '../src/checks/check.ts'
import { createCatalogLoader } from '../src/catalogs/catalog-loader.ts'
import { createCatalogFileReaderPool } from '../src/catalogs/reader-pool.ts'
import { evaluatePullSnapshot } from '../src/evaluate/evaluate.ts'
import { createInMemoryCache, noopPullHistoryStore } from '../src/catalogs/memory-cache.ts'
import { systemClock } from '../src/adapters/system-clock.ts'
import { decideVerdict } from '../src/policy/decide.ts'
import { isGitError } from '../src/adapters/git/git-error.ts'
import { listMergedPulls, type HistoricalPull } from './merged-pulls.ts'
import { readCpuTimeMs } from './cpu-time.ts'

interface ReplayResult {
  readonly number: number | undefined
  readonly commit: string
  readonly author: string
  /** The policy's decision. `incomplete` if the mirror lacks an object, `failed` if the engine failed. */
  readonly decision: string
  /** The codes of the reasons. */
  readonly reasons: readonly string[]
  /** Rules with errors. */
  readonly rules: readonly string[]
  /** Rules with findings below error severity. */
  readonly warnings: readonly string[]
  readonly paths: number
  /** By the changed files, because those determine the cost. */
  readonly kind: 'one new bundle directory' | 'bundle directories' | 'catalogs' | 'other'
  /** Elapsed milliseconds, and processor milliseconds, including those of Git and the readers. */
  readonly time: number
  readonly processor: number
  readonly failure?: string
}

const { values } = parseArgs({
  options: {
    mirror: { type: 'string' },
    branch: { type: 'string', default: 'HEAD' },
    since: { type: 'string' },
    most: { type: 'string', default: '1000' },
    'max-blocked': { type: 'string', default: '100' },
  },
})
const maxBlockedPercent = Number(values['max-blocked'])
if (values.mirror === undefined || !(maxBlockedPercent >= 0)) {
  console.error(
    'usage: npm run replay -- --mirror DIR [--branch B] [--since DATE] [--most N] [--max-blocked PERCENT]',
  )
  process.exit(2)
}

// A catalog that opm rejects cannot be installed either. By default, the install check does not block anything.
const opmRuleIds = new Set(
  allRules.filter(({ check, fixed }) => fixed || check === 'install').map(({ id }) => id),
)
const repositoryFolder = findRepositoryFolder(resolve(values.mirror))
const pullsToReplay = listMergedPulls(repositoryFolder, values.branch, {
  since: values.since,
  most: Number(values.most),
})
const scratchRepository = await createTemporaryRepository(repositoryFolder)
const readerPool = createCatalogFileReaderPool()
const catalogLoader = createCatalogLoader(readerPool, createInMemoryCache(systemClock))
const replayResults: ReplayResult[] = []
try {
  for (const pull of pullsToReplay) {
    const one = await replayPullRequest(pull)
    replayResults.push(one)
    process.stdout.write(`${JSON.stringify(one)}\n`)
  }
} finally {
  await Promise.all([scratchRepository.close(), readerPool.close()])
}
console.error(renderSummary(replayResults))
const blockedPullRate = computeBlockedRate(replayResults)
const isBlockedRateWithinLimit =
  blockedPullRate.judged > 0 ? blockedPullRate.percent <= maxBlockedPercent : values['max-blocked'] === '100'
if (!isBlockedRateWithinLimit)
  console.error(
    `catalog-bot would have blocked more than ${maxBlockedPercent}%, or could not evaluate any pull request`,
  )
process.exitCode =
  isBlockedRateWithinLimit && replayResults.every(({ decision }) => decision !== 'failed') ? 0 : 1

/** The object directory of a bare repository, `.git`, or linked worktree. Exits if the folder is not a repository. */
function findRepositoryFolder(folder: string): string {
  const { status, stdout, stderr } = spawnSync(
    'git',
    ['--git-dir', folder, 'rev-parse', '--path-format=absolute', '--git-common-dir'],
    { encoding: 'utf8' },
  )
  if (status === 0) return stdout.trim()
  console.error(stderr.trim())
  process.exit(2)
}

async function replayPullRequest(pull: HistoricalPull): Promise<ReplayResult> {
  const author = parseGitHubAccount(pull.author)
  const { number, commit } = pull
  const started = performance.now()
  const used = readCpuTimeMs()
  const measureCost = () => {
    return { time: Math.round(performance.now() - started), processor: Math.round(readCpuTimeMs() - used) }
  }
  try {
    const { verdictInput, change } = await evaluatePullSnapshot(
      createLocalPullRequestSnapshot(author, toCommitSha(pull.base), toCommitSha(pull.head), {
        base: 'main',
      }),
      {
        repository: scratchRepository.repository,
        loader: catalogLoader,
        ask: createLocalLookupResolver(author, 'read'),
        memory: noopPullHistoryStore,
      },
    )
    const outcomes = verdictInput.outcomes.map(dropPendingImageLookups)
    const { kind, reasons } = decideVerdict({ ...verdictInput, outcomes })
    const findings = outcomes.flatMap((outcome) => outcome.findings)
    const rulesOf = (isError: boolean) =>
      [
        ...new Set(
          findings.filter(({ severity }) => (severity === 'error') === isError).map(({ rule }) => rule),
        ),
      ].toSorted()
    return {
      number,
      commit,
      author: author.login,
      decision: kind,
      reasons: [...new Set(reasons.map(({ code }) => code))],
      rules: rulesOf(true),
      warnings: rulesOf(false),
      paths: change.paths.length,
      kind: classifyPullRequestChange(change),
      ...measureCost(),
    }
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error)
    const none = { reasons: [], rules: [], warnings: [], paths: 0, kind: 'other' } as const
    // A mirror may lack its largest files.
    const decision = isGitError(error, 'missing') ? 'incomplete' : 'failed'
    return { number, commit, author: author.login, decision, ...none, ...measureCost(), failure }
  }
}

function classifyPullRequestChange({ paths, catalogs }: PullRequestChange): ReplayResult['kind'] {
  if (catalogs.length > 0) return 'catalogs'
  const bundleDirectories = new Set(paths.map(({ path }) => /^operators\/[^/]+\/[^/]+(?=\/)/.exec(path)?.[0]))
  if (bundleDirectories.has(undefined)) return 'other'
  return bundleDirectories.size === 1 && paths.every(({ before }) => before === undefined)
    ? 'one new bundle directory'
    : 'bundle directories'
}

/** Unanswered registry lookups are not the reason why it remains open. */
function dropPendingImageLookups(outcome: CheckOutcome): CheckOutcome {
  return outcome.check === 'images' ? { ...outcome, unanswered: [] } : outcome
}

/** Whether the engine reached a decision. */
function hasDecision({ decision }: ReplayResult): boolean {
  return decision !== 'incomplete' && decision !== 'failed'
}

function computeBlockedRate(all: readonly ReplayResult[]) {
  const judged = all.filter(hasDecision)
  const blocked = judged.filter(({ decision }) => decision === 'blocked')
  return {
    blocked: blocked.length,
    judged: judged.length,
    percent: judged.length === 0 ? 0 : (blocked.length / judged.length) * 100,
    /** Blocked only because opm rejects the catalog. */
    byOpm: blocked.filter(({ rules }) => rules.length > 0 && rules.every((rule) => opmRuleIds.has(rule)))
      .length,
  }
}

function renderSummary(all: readonly ReplayResult[]): string {
  const lines = [`${all.length} pull requests`]
  const formatCounts = (title: string, names: readonly string[]) => {
    const counts = Map.groupBy(names, (name) => name)
    lines.push('', title)
    for (const [name, each] of [...counts].toSorted(([, a], [, b]) => b.length - a.length))
      lines.push(`${String(each.length).padStart(6)}  ${name}`)
  }
  formatCounts(
    'decisions',
    all.map(({ decision }) => decision),
  )
  formatCounts(
    'rules with errors',
    all.flatMap(({ rules }) => rules),
  )
  formatCounts(
    'rules that warned',
    all.flatMap(({ warnings }) => warnings),
  )
  const { blocked, judged, percent, byOpm } = computeBlockedRate(all)
  lines.push(
    '',
    `would have blocked ${blocked} of ${judged} evaluated pull requests (${percent.toFixed(1)} %)`,
  )
  if (byOpm > 0) lines.push(`${byOpm} of them only because opm rejects the catalog`)
  const whole = all.filter(hasDecision)
  const [first, ...others] = whole
  if (first === undefined) return lines.join('\n')
  // The first evaluation includes the initial cost of the repository, and interrupted evaluations did only part of
  // their work.
  lines.push('', `first evaluation: ${first.time} ms, ${first.processor} ms of processor time`)
  for (const [kind, ones] of [['all', others] as const, ...Map.groupBy(others, (one) => one.kind)])
    lines.push(
      `${kind}, ${ones.length}: ${formatPercentiles(ones.map(({ time }) => time))} ms; processor time ${formatPercentiles(ones.map(({ processor }) => processor))} ms`,
    )
  return lines.join('\n')
}

function formatPercentiles(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((a, b) => a - b)
  const percentile = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return `p50 ${percentile(0.5)}, p95 ${percentile(0.95)}, max ${percentile(1)}`
}
