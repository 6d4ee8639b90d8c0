// Sweeps a repository once, without a server. Does not publish or scan (docs/how-to/actions.md).
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { PullNumber } from '../../pull-request/ids.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import { systemClock } from '../../adapters/system-clock.ts'
import { GitHubForge } from '../../adapters/github/forge.ts'
import { treeMismatchMarkerPrefix } from '../../report/base-branch-issues.ts'
import type { Job, JobQueue } from '../../ports/jobs.ts'
import type { Store } from '../../ports/store.ts'
import { openStore } from '../../adapters/store/store.ts'
import { runJob } from '../jobs/run-job.ts'
import { createMetrics } from '../../jobs/metrics.ts'
import { createRepositoryContextFactory, openAppServices } from '../app-services.ts'
import { getStoreFolder, type BotSettings } from '../../jobs/settings.ts'
import type { Clock } from '../../ports/clock.ts'
import { toJobKey } from '../../adapters/store/jobs.ts'
import { createGitHubClientFromToken, type TokenAuthGitHubClient } from '../../adapters/github/github-app.ts'

interface JobQueueDrainOptions {
  readonly concurrency: number
  /** Rejects with internal failures, after which the job is not retried in this run. */
  readonly handler: (job: Job) => Promise<void>
  readonly signal: AbortSignal
}

interface JobQueueDrainResult {
  /** Jobs due too late or repeated too often. */
  readonly left: readonly Job[]
  readonly failed: readonly { readonly job: Job; readonly error: unknown }[]
}

interface SweepOnceJobQueue extends JobQueue {
  /** Resolves when no job is due soon. */
  drain(options: JobQueueDrainOptions): Promise<JobQueueDrainResult>
}

/** Milliseconds; enough for another merge or GitHub's mergeability to finish. */
const maxJobDelayMs = 10_000

/** A job that requeues itself more often is left to the next run. */
const maxRunsPerJob = 10

interface QueuedJob {
  readonly job: Job
  readonly due: number
}

export interface SweepOnceOptions {
  readonly repository: RepositoryName
  readonly token: string
  readonly settings: BotSettings
  /** If absent, no state is kept between runs. */
  readonly folder?: string | undefined
  /** Without variables that may hold other processes' credentials. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly log: Logger
  readonly signal: AbortSignal
  /** Called when a job starts. */
  readonly onJob?: (job: Job) => void
}

export interface SweepOncePullResult {
  readonly pull: PullNumber
  readonly outcome: 'merged' | 'merge' | 'wait' | 'blocked' | 'unknown'
  /** Sentences without a full stop; they contain untrusted text. */
  readonly reasons: readonly string[]
}

export interface SweepOnceResult {
  readonly pulls: readonly SweepOncePullResult[]
  readonly stops: readonly { readonly branch: string | undefined; readonly reason: string }[]
  /** Jobs left for the next run. */
  readonly left: readonly Job[]
  readonly failed: readonly { readonly job: Job; readonly error: unknown }[]
}

/** Rejects with a ForgeError for an invalid token and a StoreError for an unusable folder. */
export async function sweepOnce(options: SweepOnceOptions): Promise<SweepOnceResult> {
  const { settings, token } = options
  const client = await createGitHubClientFromToken({
    token,
    apiUrl: settings.apiUrl,
    throttle: settings.throttle,
    writePause: settings.writePause,
    reserves: settings.reserves,
    clock: systemClock,
    warn: (why) => options.log.warn(why),
  })
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'catalog-bot-once-')))
  try {
    return await sweepOnceInDataFolder(folder, client, options)
  } finally {
    if (options.folder === undefined) await rm(folder, { recursive: true, force: true })
  }
}

const serverOnlyJobKinds: ReadonlySet<Job['kind']> = new Set(['publish', 'preview', 'scan', 'release'])

async function sweepOnceInDataFolder(
  folder: string,
  client: TokenAuthGitHubClient,
  options: SweepOnceOptions,
): Promise<SweepOnceResult> {
  const { repository, environment, log, signal } = options
  const clock = systemClock
  const settings: BotSettings = { ...options.settings, dataDirectory: folder, actsAs: client.appId }
  const openedStore = await openStore({
    ...(options.folder !== undefined && { dataDirectory: getStoreFolder(folder) }),
    clock,
    problem: (error) => log.error({ err: error }, 'the store failed'),
  })
  // Closed in this order on failure too, or the process would not exit.
  const closing: (() => unknown)[] = [() => openedStore.close()]
  try {
    const queue = createSweepOnceJobQueue(clock)
    const sweptPulls = new Map<PullNumber, SweepOncePullResult>()
    const store: Store = {
      ...openedStore,
      enqueue: (job, afterSeconds) =>
        serverOnlyJobKinds.has(job.kind) ? Promise.resolve() : queue.enqueue(job, afterSeconds),
      recordVerdict: async (record) => {
        const { verdict } = record.report as { verdict: { reasons: readonly { text: string }[] } }
        sweptPulls.set(record.pull, {
          pull: record.pull,
          outcome: record.verdict as SweepOncePullResult['outcome'],
          reasons: verdict.reasons.map(({ text }) => text),
        })
        await openedStore.recordVerdict(record)
      },
      finishMerge: async (intent, outcome, commit) => {
        const isNew = await openedStore.finishMerge(intent, outcome, commit)
        if (outcome === 'landed')
          sweptPulls.set(intent.pull, { pull: intent.pull, outcome: 'merged', reasons: [] })
        return isNew
      },
    }
    // A workflow run ends before a cluster install test would.
    const { app, close: closeServices } = await openAppServices({
      ...{ settings, store, environment, clock, log },
      metrics: createMetrics(),
    })
    const contexts = createRepositoryContextFactory(app, client)
    closing.unshift(
      () => app.scheduler.close(),
      () => contexts.close(),
      () => app.clusterTests.close(),
      () => app.publishing.close(),
      closeServices,
    )
    if ((await store.listFreezeEvents(repository, 1)).length === 0)
      await restoreFreezeFromOpenIssue(repository, client, store)
    await queue.enqueue({ kind: 'sweep', installation: 0, repository })
    const { left, failed } = await queue.drain({
      concurrency: settings.concurrency,
      signal,
      handler: (job) => {
        options.onJob?.(job)
        return runJob(job, {
          app,
          openJobContext: contexts.open,
          isInstalled: () => Promise.resolve(true),
          onDone: () => undefined,
        })
      },
    })
    const stops = await store.listFreezes(repository)
    return {
      pulls: [...sweptPulls.values()].sort((a, b) => a.pull - b.pull),
      stops: stops.map(({ branch, reason }) => ({ branch, reason })),
      // The next sweep finds sweeps, rebuilds and evaluated pull requests without a record.
      left: left.filter((job) => job.kind === 'sweep' || (job.kind === 'pull' && !sweptPulls.has(job.pull))),
      failed,
    }
  } finally {
    for (const close of closing) await close()
  }
}

/**
 * An open mismatch issue keeps branches frozen if the state was lost, for example because a workflow's cache expired. If
 * the store has events of freezes, it is not new, and its freezes count.
 */
async function restoreFreezeFromOpenIssue(
  repository: RepositoryName,
  client: TokenAuthGitHubClient,
  store: Store,
): Promise<void> {
  const forge = new GitHubForge(await client.octokit(0), repository, client)
  const issue = await forge.findOwnIssue(treeMismatchMarkerPrefix)
  if (issue?.state !== 'open') return
  await store.freezeMerges({
    repository,
    kind: 'audit',
    reason: `issue ${issue.number} reports a failed merge verification and is still open`,
    by: { kind: 'bot' },
  })
}

/** An in-memory queue for a single sweep. It skips jobs due later, coalesces like the store, and never runs two jobs with one key at once. */
export function createSweepOnceJobQueue(clock: Clock): SweepOnceJobQueue {
  const waiting = new Map<string, QueuedJob>()
  let wake = (): void => undefined
  return {
    enqueue(job, afterSeconds = 0) {
      const key = toJobKey(job)
      const due = Math.min(clock.now() + afterSeconds * 1000, waiting.get(key)?.due ?? Infinity)
      waiting.set(key, { job, due })
      wake()
      return Promise.resolve()
    },
    async drain({ concurrency, handler, signal }) {
      const running = new Map<string, Promise<void>>()
      const runs = new Map<string, number>()
      const failed: { job: Job; error: unknown }[] = []
      const failedKeys = new Set<string>()
      const isDueSoon = ([key, { due }]: [string, QueuedJob]) =>
        (runs.get(key) ?? 0) < maxRunsPerJob && !failedKeys.has(key) && due <= clock.now() + maxJobDelayMs
      const start = (key: string, job: Job) => {
        waiting.delete(key)
        runs.set(key, (runs.get(key) ?? 0) + 1)
        const run = handler(job).catch((error: unknown) => {
          failed.push({ job, error })
          failedKeys.add(key)
        })
        running.set(
          key,
          run.finally(() => {
            running.delete(key)
            wake()
          }),
        )
      }
      for (;;) {
        const due = signal.aborted ? [] : [...waiting].filter(isDueSoon).sort(([, a], [, b]) => a.due - b.due)
        const next = due.find(([key, one]) => one.due <= clock.now() && !running.has(key))
        if (next !== undefined && running.size < concurrency) {
          start(next[0], next[1].job)
          continue
        }
        if (due.length === 0 && running.size === 0) break
        const called = new Promise<void>((resolve) => (wake = resolve))
        const pause = new AbortController()
        const soonest = due.find(([key]) => !running.has(key))?.[1].due ?? Infinity
        const hasCapacity = soonest < Infinity && running.size < concurrency
        await (hasCapacity
          ? Promise.race([called, clock.sleep(Math.max(0, soonest - clock.now()), pause.signal)])
          : called)
        pause.abort()
      }
      return { left: [...waiting.values()].map(({ job }) => job), failed }
    },
  }
}
