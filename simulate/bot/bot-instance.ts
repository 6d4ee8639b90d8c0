// One catalog-bot process: the real jobs on in-memory ports. A run can end it at any call and start a new process in
// its place. The new process has only the data that was on disk.
import pino from 'pino'
import type { PublishClient } from '../../src/publish/process/publish-client.ts'
import type { ReleaseWorkerPool } from '../../src/release/worker/release-pool.ts'
import type { ClusterTestClient } from '../../src/cluster-test/process/cluster-test-client.ts'
import { mapWebhookDeliveryToJobs, parsePushFromDelivery } from '../../src/server/deliveries.ts'
import type { AppServices, JobContext } from '../../src/jobs/job-context.ts'
import { runJob } from '../../src/server/jobs/run-job.ts'
import { JobScheduler } from '../../src/jobs/job-scheduler.ts'
import {
  ReadyEvaluations,
  workerPullHistoryMethods,
  type EvaluationResponse,
  type WorkerPullHistoryStore,
  type WorkerCallbackRequest,
} from '../../src/evaluate/pull-evaluation.ts'
import { createMetrics } from '../../src/jobs/metrics.ts'
import { readSettings, type BotSettings } from '../../src/jobs/settings.ts'
import { createCatalogLoader, type CatalogLoader } from '../../src/catalogs/catalog-loader.ts'
import { createCatalogFileReaderPool, ChangeTooLargeError } from '../../src/catalogs/reader-pool.ts'
import { noopCache, noopPullHistoryStore } from '../../src/catalogs/memory-cache.ts'
import type { RegistryLookupService } from '../../src/catalogs/registries.ts'
import type { Forge, OpenPullSummary } from '../../src/ports/forge.ts'
import type { Job } from '../../src/ports/jobs.ts'
import type { MergeApi } from '../../src/ports/merge-api.ts'
import type { GitRepository } from '../../src/ports/repository.ts'
import type { Store } from '../../src/ports/store.ts'
import type { SimulatedProcess, Scheduler } from '../scheduler.ts'
import { appId, installationId, type SimulatedWebhookDelivery } from '../world/simulated-github.ts'
import { isRunCommand } from '../../src/policy/command-records.ts'
import { evaluatePullSnapshot } from '../../src/evaluate/evaluate.ts'
import type { LookupResult } from '../../src/catalogs/gather-lookup-results.ts'
import type { WorkerCallbackHandler, EvaluationPool } from '../../src/evaluate/worker/evaluation-pool.ts'
import { prepareEvaluationReport } from '../../src/evaluate/worker/prepare-report.ts'
import { GitError, toGitErrorResponse } from '../../src/adapters/git/git-error.ts'
import type { PullHistoryStore } from '../../src/ports/pull-history.ts'

/** Parsed catalogs are cached by content, so all runs share one cache. */
const sharedCatalogLoader = createCatalogLoader(createCatalogFileReaderPool(1), noopCache)
const simulatorMetrics = createMetrics()
const silentLogger = pino({ level: 'silent' })
const disabledPublishClient: PublishClient = {
  order: () => Promise.reject(new Error('the simulator does not publish')),
  close: () => Promise.resolve(),
}
const disabledClusterTestClient: ClusterTestClient = {
  order: () => Promise.reject(new Error('the simulator does not install')),
  withServedCatalog: () => Promise.reject(new Error('the simulator does not install')),
  close: () => Promise.resolve(),
}

const disabledReleaseWorkerPool: ReleaseWorkerPool = {
  computeRelease: () => Promise.reject(new Error('the simulator does not release')),
  close: () => Promise.resolve(),
}

/** A webhook secret and a private key that no run uses. */
const appCredentials = { appId, privateKey: 'none', webhookSecret: 'none' }

export const simulatedBotSettings: BotSettings = {
  ...readSettings({
    PAGES: 'off',
    DATA_DIR: 'data',
    SCAN_SECONDS: '0',
    SWEEP_SECONDS: '600',
    LEASE_SECONDS: '60',
  }),
  credentials: appCredentials,
}

export interface BotInstanceDependencies {
  readonly store: Store
  readonly forge: Forge
  readonly merging: MergeApi
  readonly repository: GitRepository
  readonly registries: RegistryLookupService
}

export interface BotInstance {
  readonly process: SimulatedProcess
  /** Runs a job to completion. Rejects only on failures in catalog-bot itself. */
  run(job: Job): Promise<void>
  receive(delivery: SimulatedWebhookDelivery): Promise<void>
}

export function startBotInstance(
  process: SimulatedProcess,
  scheduler: Scheduler,
  ports: BotInstanceDependencies,
): BotInstance {
  const { store, forge, merging, repository, registries } = ports
  const clock = scheduler.clockOf(process)
  const app: AppServices<Store> = {
    settings: simulatedBotSettings,
    store,
    registries,
    publishing: disabledPublishClient,
    clusterTests: disabledClusterTestClient,
    loader: sharedCatalogLoader,
    evaluationPool: createInProcessEvaluator(repository, sharedCatalogLoader),
    releases: disabledReleaseWorkerPool,
    scheduler: new JobScheduler(clock),
    readyEvaluations: new ReadyEvaluations(clock),
    metrics: simulatorMetrics,
    clock,
    log: silentLogger,
  }
  const context: JobContext<Store> = {
    app,
    installation: installationId,
    forge,
    merging,
    repository,
    mirror: '/nowhere',
  }
  return {
    process,
    run: (job) =>
      runJob(job, {
        app,
        openJobContext: () => Promise.resolve(context),
        isInstalled: () => Promise.resolve(true),
        onDone: () => undefined,
      }),
    receive: async ({ guid, event, payload }) => {
      const body = Buffer.from(JSON.stringify(payload))
      const delivered: unknown = JSON.parse(body.toString())
      const push = parsePushFromDelivery(event, delivered)
      await store.accept({ guid, event, body }, mapWebhookDeliveryToJobs(event, delivered, appId), push)
    },
  }
}

/** Evaluates pull requests in this process, with the same evaluation and the same requests as the App's worker processes. */
function createInProcessEvaluator(repository: GitRepository, loader: CatalogLoader): EvaluationPool {
  return {
    isSmall: () => true,
    close: () => Promise.resolve(),
    evaluate: async ({ snapshot, budget }, call): Promise<EvaluationResponse> => {
      try {
        const evaluation = await evaluatePullSnapshot(snapshot, {
          repository,
          loader,
          ask: async (question) => (await call({ kind: 'ask', question })) as LookupResult,
          memory: createPullHistoryStore(call),
          openPulls: async () => (await call({ kind: 'open-pulls' })) as readonly OpenPullSummary[],
          budget,
        })
        const { configDigest, epoch, commands, records, incoming, described, verdictInput } = evaluation
        // Data is copied as it would be between processes.
        return structuredClone<EvaluationResponse>({
          kind: 'seen',
          configDigest,
          epoch,
          commands,
          ...(incoming && { incoming }),
          described,
          verdictInput,
          runCommands: records.filter(isRunCommand),
          report: await prepareEvaluationReport(evaluation, repository, loader),
        })
      } catch (error) {
        if (error instanceof ChangeTooLargeError) return { kind: 'too-large', why: error.message }
        if (error instanceof GitError) return toGitErrorResponse(error)
        throw error
      }
    },
  }
}

function createPullHistoryStore(call: WorkerCallbackHandler): PullHistoryStore {
  const names = Object.keys(workerPullHistoryMethods) as (keyof WorkerPullHistoryStore)[]
  const methods = names.map((name) => [
    name,
    (...args: unknown[]) => call({ kind: 'memory', name, args } satisfies WorkerCallbackRequest),
  ])
  return { ...noopPullHistoryStore, ...(Object.fromEntries(methods) as WorkerPullHistoryStore) }
}
