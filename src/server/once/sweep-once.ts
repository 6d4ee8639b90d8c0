// Sweeps one repository once with a token, without a server. It uses the App's jobs to decide and merge, but does not
// publish or scan (docs/once.md).
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { PullNumber } from '../../pull-request/ids.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import { createCatalogLoader } from '../../catalogs/catalog-loader.ts'
import { openCatalogFileReaderPool } from '../../catalogs/reader-pool.ts'
import { openEvaluationPool } from '../../evaluate/worker/evaluation-pool.ts'
import { openReleasePool } from '../../release/worker/release-pool.ts'
import { openRegistries } from '../../catalogs/registries.ts'
import { systemClock } from '../../adapters/system-clock.ts'
import { openForge } from '../../adapters/github/forge.ts'
import { openTokenClient, type TokenClient } from '../../adapters/github/token-client.ts'
import { mismatchMarkerPrefix } from '../../report/mismatch-issue.ts'
import type { Job } from '../../ports/jobs.ts'
import type { Store } from '../../ports/store.ts'
import { traceCalls } from '../../ports/tracing.ts'
import { openStore } from '../../adapters/store/store.ts'
import type { AppServices } from '../../jobs/job-context.ts'
import { runJob } from '../jobs/run-job.ts'
import { createJobScheduler } from '../../jobs/job-scheduler.ts'
import { createMetrics } from '../../jobs/metrics.ts'
import { openRepositoryContexts } from '../repository-contexts.ts'
import { openTracing } from '../tracing/open-tracing.ts'
import { openPublishClient } from '../../publish/process/publish-client.ts'
import { openClusterTestClient } from '../../cluster-test/process/cluster-test-client.ts'
import { getStoreFolder, type BotSettings } from '../../jobs/settings.ts'
import { createOnceQueue } from './once-queue.ts'

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
}

export interface SweptPull {
  readonly pull: PullNumber
  readonly outcome: 'merged' | 'merge' | 'wait' | 'blocked' | 'unknown'
  /** Sentences without a full stop; they contain untrusted text. */
  readonly reasons: readonly string[]
}

export interface SweepOnceResult {
  readonly pulls: readonly SweptPull[]
  readonly stops: readonly { readonly branch: string | undefined; readonly reason: string }[]
  /** Jobs left for the next run. */
  readonly left: readonly Job[]
  readonly failed: readonly { readonly job: Job; readonly error: unknown }[]
}

/** Rejects with a ForgeError for an invalid token and a StoreError for an unusable folder. */
export async function sweepOnce(options: SweepOnceOptions): Promise<SweepOnceResult> {
  const { settings, token } = options
  const client = await openTokenClient({
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

/** Job kinds that need a server. */
const serverOnlyJobKinds: ReadonlySet<Job['kind']> = new Set(['publish', 'preview', 'scan', 'release'])

async function sweepOnceInDataFolder(
  folder: string,
  client: TokenClient,
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
    const queue = createOnceQueue(clock)
    const sweptPulls = new Map<PullNumber, SweptPull>()
    const store: Store = {
      ...openedStore,
      enqueue: (job, afterSeconds) =>
        serverOnlyJobKinds.has(job.kind) ? Promise.resolve() : queue.enqueue(job, afterSeconds),
      recordVerdict: async (record) => {
        const { verdict } = record.report as { verdict: { reasons: readonly { text: string }[] } }
        sweptPulls.set(record.pull, {
          pull: record.pull,
          outcome: record.verdict as SweptPull['outcome'],
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
    const pool = openCatalogFileReaderPool()
    closing.unshift(() => pool.close())
    const registries = await openRegistries({
      clock,
      store,
      environment,
      insecure: settings.insecureRegistries,
    })
    closing.unshift(() => registries.close())
    const tracing = await openTracing(environment, (error) =>
      log.warn({ err: error }, 'traces could not be exported'),
    )
    closing.unshift(() => tracing.close())
    const evaluationPool = traceCalls(
      openEvaluationPool(settings.budget, settings.concurrency),
      { evaluate: 'look.look' },
      tracing,
    )
    closing.unshift(() => evaluationPool.close())
    const releases = openReleasePool(settings.budget)
    closing.unshift(() => releases.close())
    const scheduler = createJobScheduler(clock)
    const publishing = openPublishClient({})
    closing.unshift(() => publishing.close())
    // A workflow run ends before a cluster install test would.
    const clusterTests = openClusterTestClient({})
    closing.unshift(() => clusterTests.close())
    const app: AppServices<Store> = {
      settings,
      store,
      registries,
      publishing,
      clusterTests,
      loader: createCatalogLoader(pool, store),
      evaluationPool,
      releases,
      scheduler,
      metrics: createMetrics(),
      clock,
      log,
      tracing,
    }
    const workplaces = openRepositoryContexts(app, client)
    closing.unshift(
      () => scheduler.close(),
      () => workplaces.close(),
    )
    if (options.folder === undefined) await restoreFreezeFromOpenIssue(repository, client, store)
    await queue.enqueue({ kind: 'sweep', installation: 0, repository })
    const { left, failed } = await queue.drain({
      clock,
      concurrency: settings.concurrency,
      signal,
      handler: (job) =>
        runJob(job, {
          app,
          openJobContext: workplaces.open,
          isInstalled: () => Promise.resolve(true),
          onDone: () => undefined,
        }),
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

/** An open mismatch issue keeps a branch frozen even if the state was lost. */
async function restoreFreezeFromOpenIssue(
  repository: RepositoryName,
  client: TokenClient,
  store: Store,
): Promise<void> {
  const forge = openForge(await client.octokit(0), repository, client)
  const issue = await forge.findOwnIssue(mismatchMarkerPrefix)
  if (issue?.state !== 'open') return
  await store.freezeMerges({
    repository,
    kind: 'audit',
    reason: `issue ${issue.number} reports a failed merge verification and is still open`,
    by: { kind: 'bot' },
  })
}
