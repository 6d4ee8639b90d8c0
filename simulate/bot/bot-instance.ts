// One process of the bot: the real jobs on ports in memory. It can be ended at every call, and another one can be started in its
// place, which has what was on disk and nothing else.
import pino from 'pino'
import type { PublishClient } from '../../src/app/publishing/publish-client.ts'
import type { ReleasePool } from '../../src/evaluate/release/release-pool.ts'
import type { ClusterTestClient } from '../../src/app/cluster-tests/cluster-test-client.ts'
import { mapDeliveryToJobs } from '../../src/app/edge/jobs-of-delivery.ts'
import { parsePushFromDelivery } from '../../src/app/edge/push-of-delivery.ts'
import type { AppServices, JobContext } from '../../src/app/jobs/job-context.ts'
import { runJob } from '../../src/app/jobs/run-job.ts'
import { createJobScheduler } from '../../src/app/jobs/job-scheduler.ts'
import { createMetrics } from '../../src/app/metrics.ts'
import { readSettings, type BotSettings } from '../../src/app/settings.ts'
import { createCatalogLoader } from '../../src/evaluate/catalogs/catalog-loader.ts'
import { openCatalogFileReaderPool } from '../../src/evaluate/catalogs/reader-pool.ts'
import { noopCache } from '../../src/evaluate/null-store.ts'
import type { Registries } from '../../src/evaluate/registries.ts'
import type { Forge } from '../../src/ports/forge.ts'
import type { Job } from '../../src/ports/jobs.ts'
import type { MergeApi } from '../../src/ports/merge-api.ts'
import type { GitRepository } from '../../src/ports/repository.ts'
import type { Store } from '../../src/ports/store.ts'
import type { SimulatedProcess, Scheduler } from '../scheduler.ts'
import { appId, installationId, type SimulatedDelivery } from '../world/simulated-github.ts'
import { createInProcessEvaluator } from './in-process-evaluator.ts'

/** What is read of catalogs is found by its content alone: one memory of it serves all runs. */
const sharedCatalogLoader = createCatalogLoader(openCatalogFileReaderPool(1), noopCache)
const metrics = createMetrics()
const silentLogger = pino({ level: 'silent' })
const disabledPublishClient: PublishClient = {
  order: () => Promise.reject(new Error('nothing is published here')),
  close: () => Promise.resolve(),
}
const disabledClusterTestClient: ClusterTestClient = {
  isAllowed: false,
  order: () => Promise.reject(new Error('nothing is tried here')),
  withServedCatalog: () => Promise.reject(new Error('nothing is tried here')),
  close: () => Promise.resolve(),
}

const disabledReleasePool: ReleasePool = {
  computeRelease: () => Promise.reject(new Error('nothing is released here')),
  close: () => Promise.resolve(),
}

/** A webhook's secret and a private key that no run needs. */
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

export interface BotInstancePorts {
  readonly store: Store
  readonly forge: Forge
  readonly merging: MergeApi
  readonly repository: GitRepository
  readonly registries: Registries
}

export interface BotInstance {
  readonly process: SimulatedProcess
  /** Does a job to its end. Rejects with failures of ours alone. */
  run(job: Job): Promise<void>
  receive(delivery: SimulatedDelivery): Promise<void>
}

export function startBotInstance(
  process: SimulatedProcess,
  scheduler: Scheduler,
  ports: BotInstancePorts,
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
    releases: disabledReleasePool,
    scheduler: createJobScheduler(clock),
    metrics,
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
      await store.accept({ guid, event, body }, mapDeliveryToJobs(event, delivered, appId), push)
    },
  }
}
